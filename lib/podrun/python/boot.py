import os, sys
def read(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            sys.exit(1)
        data += more
    return data
def line():
    data = b""
    while not data.endswith(b"\n"):
        data += read(1)
    return data.decode().split()
size, *words = line()
driver = type(sys)("_podrun")
driver.__file__ = "<podrun>"
sys.modules["_podrun"] = driver
exec(compile(read(int(size)), "<podrun>", "exec"), driver.__dict__)
driver.main(words, "os sys read line size words driver".split())
