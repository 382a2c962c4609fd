/* Entries as the CLI (2.1.330) writes them, without unread fields. */

export function entry(fields: object): object {
  return { timestamp: "2026-11-25T12:00:00Z", cwd: "/p", isSidechain: false, ...fields };
}

export function line(one: object): string {
  return `${JSON.stringify(one)}\n`;
}

export function prompt(content: unknown): object {
  return entry({ type: "user", message: { role: "user", content }, origin: { kind: "human" } });
}

export function answer(content: unknown, usage?: object, model = "claude-opus-5-5"): object {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return entry({ type: "assistant", message: { model, content: blocks, usage } });
}

export function calls(id: string, name: string, input: object): object {
  return answer([{ type: "tool_use", id, name, input }]);
}

export function result(id: string, content: unknown, toolUseResult: object = {}, isError = false) {
  const block = { type: "tool_result", tool_use_id: id, content, is_error: isError };
  return entry({ type: "user", message: { role: "user", content: [block] }, toolUseResult });
}
