// The official TypeScript clients: talk.mjs sdk|legacy|auto PROGRAM ARGS... in a home that has a
// live report/a. `sdk` is the package of the earlier generation.
import assert from "node:assert/strict";

const [mode, command, ...args] = process.argv.slice(2);
const a = { type: "report", id: "a" };
const act = { ...a, executor: "send", action: "send", key: "k" };

const earlier = async () => {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  return { client: new Client({ name: "test", version: "1" }), StdioClientTransport };
};
const later = async () => {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const options = mode === "auto" ? { versionNegotiation: { mode: "auto" } } : {};
  return { client: new Client({ name: "test", version: "1" }, options), StdioClientTransport };
};

const { client, StdioClientTransport } = await (mode === "sdk" ? earlier() : later());
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
assert.equal(client.getServerVersion().name, "granted");
if (mode !== "sdk") {
  const version = client.getNegotiatedProtocolVersion();
  assert.equal(version === "2026-07-28", mode === "auto", version);
}
const { tools } = await client.listTools();
assert.deepEqual(
  tools.map((tool) => tool.name),
  ["grant_status", "grant_discharge", "ledger_tail"],
);

const heard = [];
// Both packages check each structured result against the tool's output schema.
const call = (name, input, options) =>
  mode === "sdk"
    ? client.callTool({ name, arguments: input }, undefined, options)
    : client.callTool({ name, arguments: input }, options);
const status = await call("grant_status", a);
assert.equal(status.structuredContent.status, "live");
const report = await call("grant_discharge", act, { onprogress: (told) => heard.push(told) });
assert.equal(report.structuredContent.outcome, "discharged");
assert.ok(heard.length > 0, "no progress was heard");
assert.equal((await call("grant_discharge", act)).structuredContent.replayed, true);
const refused = await call("grant_discharge", { ...act, key: "other" });
assert.equal(refused.isError, false);
assert.equal(refused.structuredContent.reason, "consumed");
const { rows } = (await call("ledger_tail", { n: 3 })).structuredContent;
assert.deepEqual(
  rows.map((row) => row.kind),
  ["decision.result", "decision.outcome", "decision.outcome"],
);
await assert.rejects(call("grant_status", { ...a, mint: true }), (error) => {
  return error.code === -32602 && error.message.includes("`mint`");
});
await client.close();
