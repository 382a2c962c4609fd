import fc from "fast-check";
import { CallError, onEachNeovim, setDefaultTimeout } from "#test";
import { FUZZ_TIMEOUT_MS, tries } from "./effort";

setDefaultTimeout(FUZZ_TIMEOUT_MS);

interface ListedTool {
  name: string;
  inputSchema: { properties: Record<string, { type?: string; enum?: unknown[] }> };
}

/** Paths and URIs that are almost valid, and others. */
const path = fc.oneof(
  fc.constantFrom("", ".", "..", "/", "~", "a.txt", "./a.txt", "sub/../a.txt", "/dev/null", "\0"),
  fc.constantFrom(
    "file:///",
    "file://a.txt",
    "file:///%ZZ",
    "file:///a%00b",
    "http://x/",
    "oil:///",
  ),
  fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll("/", "_")),
);

function argument(schema: { type?: string; enum?: unknown[] }): fc.Arbitrary<unknown> {
  const right: fc.Arbitrary<unknown> =
    schema.enum !== undefined
      ? fc.constantFrom(...schema.enum)
      : schema.type === "boolean"
        ? fc.boolean()
        : schema.type === "number" || schema.type === "integer"
          ? fc.oneof(fc.integer(), fc.double())
          : path;
  return fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: fc.jsonValue() });
}

function input(tool: ListedTool): fc.Arbitrary<unknown> {
  const fields = Object.entries(tool.inputSchema.properties);
  const shaped = fc.record(
    Object.fromEntries(fields.map(([name, schema]) => [name, argument(schema)])),
    { requiredKeys: [] },
  );
  return fc.oneof({ weight: 9, arbitrary: shaped }, { weight: 1, arbitrary: fc.jsonValue() });
}

/** Calls every tool and method with any input: each call gets an answer, never an internal error. */
onEachNeovim((session) => {
  let tools: ListedTool[];
  beforeAll(async () => {
    session.write("a.txt", "some text\nand more\n");
    ({ tools } = await session.client.request<{ tools: ListedTool[] }>("tools/list"));
  });

  /** Waits for a diff too: closeAllDiffTabs ends the one that was opened. */
  async function answered(ask: () => Promise<unknown>, isDiff: boolean): Promise<void> {
    const answer = ask().catch((error: unknown) => error);
    if (isDiff) await session.client.call("closeAllDiffTabs");
    const result = await answer;
    if (!(result instanceof Error)) return;
    expect(result).toBeInstanceOf(CallError);
    expect((result as CallError).code).not.toBe(-32603);
    expect(result.message).not.toBe("");
  }

  test("answers with each tool, whatever it is given", async () => {
    for (const tool of tools) {
      await fc.assert(
        fc.asyncProperty(input(tool), (args) =>
          answered(
            () => session.client.request("tools/call", { name: tool.name, arguments: args }),
            tool.name === "openDiff",
          ),
        ),
        { numRuns: tries(60) },
      );
    }
    expect(tools.length).toBeGreaterThan(5);
    expect(await session.client.json("getOpenEditors")).toHaveProperty("tabs");
    expect(await session.neovim.lua<string>("return vim.api.nvim_get_mode().mode")).toBeString();
  });

  test("answers with each method, whatever it is given", async () => {
    const methods = ["editor/selection", "editor/position", "editor/buffers", "editor/context"];
    const others = ["resources/read", "resources/list", "initialize", "tools/call", "ping"];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...methods, ...others),
        fc.oneof(fc.object(), fc.array(fc.jsonValue()), fc.record({ uri: path, name: path })),
        (method, params) => answered(() => session.client.request(method, params), false),
      ),
      { numRuns: tries(300) },
    );
  });
});
