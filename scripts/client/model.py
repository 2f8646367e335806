"""A stand-in for a model, for the Claude Code client: model.py FILE CALLS.

Serves /v1/messages on loopback and writes its address to FILE. Each request with tools is answered
with the next of the CALLS (JSON: a list of [tool, input]), and after the last one with a word that
ends the turn. What the tools returned is written to FILE.results, one JSON value a line.
"""

import http.server
import json
import pathlib
import sys

FILE, CALLS = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])


def events(block: dict, delta: dict, reason: str):
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


class Model(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_args):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        results = [
            block
            for message in asked["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        FILE.with_suffix(".results").write_text("".join(json.dumps(result) + "\n" for result in results))
        if asked.get("tools") and len(results) < len(CALLS):
            name, arguments = CALLS[len(results)]
            block = {"type": "tool_use", "id": f"toolu_{len(results)}", "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
            told = events(block, delta, "tool_use")
        else:
            told = events({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}, "end_turn")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in told:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
FILE.write_text(f"http://127.0.0.1:{server.server_port}")
server.serve_forever()
