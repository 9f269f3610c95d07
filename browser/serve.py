"""Serves a folder to this computer's browsers, in which the emulator's page may then use threads. Prints the address."""

import argparse
import functools
import http.server
import os
import sys


class Isolated(http.server.SimpleHTTPRequestHandler):
    """Files, with the headers that isolate a page from those of other sites. Only such a page may share memory with its workers."""

    def end_headers(self):
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder")
parser.add_argument("--port", type=int, default=8000, help="0 for any that is free (default: %(default)s)")
options = parser.parse_args()
if not os.path.isdir(options.folder):
    sys.exit(f"{options.folder} is no folder")
try:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), functools.partial(Isolated, directory=options.folder))
except (OSError, OverflowError) as error:
    sys.exit(f"port {options.port}: {error}")
print(f"http://127.0.0.1:{server.server_port}/", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
