import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS, type NeovimVersion } from "../support/toolchain";
import { edit, read, say } from "../support/turns";
import { TSCONFIG, TYPESCRIPT, TYPESCRIPT_OPTIONS } from "../support/typescript";
import { type Bench, startBench } from "./bench";
import { eventually } from "./eventually";

/*
 * A real language server in Neovim, the genuine CLI beside it: what an edit broke reaches the model
 * with the result of that edit, and what was broken before does not.
 */
const SHOP = "export const price: number = 1;\nexport const old: number = 'broken before';\n";

requireNamespace();
for (const version of NEOVIMS) describe(version.name, () => diagnosticsReachTheModel(version));

function diagnosticsReachTheModel(version: NeovimVersion) {
  let bench: Bench;
  let shop: string;

  beforeAll(async () => {
    bench = await startBench(version, {
      "shop.ts": SHOP,
      "unseen.ts": "export const unseen: number = 'broken before';\n",
      "tsconfig.json": TSCONFIG,
    });
    shop = join(bench.project, "shop.ts");
    await bench.neovim.lua(`
      vim.cmd("only | bwipeout! unseen.ts")
      local config = vim.json.decode([[${JSON.stringify({ cmd: TYPESCRIPT, init_options: TYPESCRIPT_OPTIONS })}]])
      vim.lsp.start(vim.tbl_extend("error", config, { name = "ts", root_dir = vim.fn.getcwd() }))
      return true`);
    await eventually(() => bench.neovim.lua("return #vim.diagnostic.get(0)"), 1, 60_000);
  });
  afterAll(() => bench?.dispose());
  beforeEach(() => bench.claude.recover());

  /** Proposes one edit, accepts it in Neovim, and gives what the model receives of it. */
  async function accept(file: string, from: string, to: string): Promise<string> {
    const { model, claude, neovim } = bench;
    model.script([read(file), edit(file, from, to), say("Done.")]);
    const proposal = (await readFile(file, "utf8")).replace(from, to);
    await claude.prompt("Change it");
    const diff = await neovim.waitForDiff(proposal);
    await neovim.focus(diff.proposed.window);
    await neovim.terminal.press("Enter");
    return newsText(await model.nextRequest((request) => newsText(request).includes("updated")));
  }

  test("what the edit broke is sent with its result; what was broken before is not", async () => {
    const news = await accept(shop, "price: number = 1", "price: number = true");
    expect(news).toContain("<new-diagnostics>");
    expect(news).toContain("shop.ts:\n  ✘ [Line 1:14]");
    expect(news).toContain("Type 'boolean' is not assignable to type 'number'.");
    expect(news).not.toContain("'string'");
  });

  test("fixing it reports nothing new", async () => {
    const news = await accept(shop, "price: number = true", "price: number = 2");
    expect(news).not.toContain("<new-diagnostics>");
  });

  test("old problems of a file that was not open are not sent as new", async () => {
    const unseen = join(bench.project, "unseen.ts");
    const news = await accept(unseen, "unseen", "seen");
    expect(news).not.toContain("<new-diagnostics>");
  });
}
