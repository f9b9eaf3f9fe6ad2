# SPDX-License-Identifier: Apache-2.0
"""python -m podrun …: becomes the program podrun."""
import os
import sys

from podrun._program import find_program

try:
    program = find_program()
    os.execv(program, [program, *sys.argv[1:]])
except OSError as error:
    sys.exit("podrun: {}".format(error.strerror or error))
