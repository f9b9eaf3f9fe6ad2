# SPDX-License-Identifier: Apache-2.0
"""python -m podrun …: becomes the program podrun."""
import os
import sys

from podrun import find_program

try:
    os.execv(find_program(), ["podrun", *sys.argv[1:]])
except OSError as error:
    sys.exit("podrun: {}".format(error.strerror or error))
