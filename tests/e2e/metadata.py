"""A stand-in for Google Cloud's metadata server, on loopback."""

import contextlib
import http.server
import socket
import threading

ATTRIBUTES = "/computeMetadata/v1/instance/attributes/"


class Metadata:
    """Serves `attributes` as the real one does; `behaviour` plays a fault: portal, hang or trickle."""

    def __init__(self, attributes=None, behaviour=None):
        self.attributes = attributes or {}
        self.behaviour = behaviour
        self.asked = []
        self._leave = threading.Event()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self._server.server_port}"

    def end(self):
        self._leave.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path, headers):
        """Status, flavour and body of an answer."""
        self.asked.append(path)
        if self.behaviour == "portal":
            return 200, None, "<html>Please log in</html>"
        if headers.get("Metadata-Flavor") != "Google":
            return 403, "Google", "Missing Metadata-Flavor:Google header."
        value = self.attributes.get(path.removeprefix(ATTRIBUTES)) if path.startswith(ATTRIBUTES) else None
        return (404, "Google", "<!DOCTYPE html>Not Found") if value is None else (200, "Google", value)

    def _handler(metadata):  # pylint: disable=no-self-argument
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet

            def do_GET(self):
                if metadata.behaviour == "hang":
                    metadata._leave.wait()
                    self.close_connection = True
                    return
                if metadata.behaviour == "trickle":
                    self.trickle()
                    return
                status, flavour, text = metadata.answer(self.path, self.headers)
                body = text.encode()
                self.send_response(status)
                if flavour:
                    self.send_header("Metadata-Flavor", flavour)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def trickle(self):
                """Sends a byte at a time forever, each within the time limit."""
                self.close_connection = True
                with contextlib.suppress(OSError):
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nMetadata-Flavor: Google\r\nContent-Length: 1000000\r\n\r\n")
                    while not metadata._leave.wait(0.05):
                        self.wfile.write(b"a")
                        self.wfile.flush()

            def log_message(self, *_):
                pass

        return Handler


def unused_address():
    """Where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"
