import { readFileSync, writeFileSync } from "node:fs";
import { claims, NEOVIMS } from "#test";
import { CASE_MS, requireNamespace } from "../support/namespace";
import { eventually } from "./eventually";
import { InTerminal } from "./in-terminal";

/* The genuine CLI's plan as a document, with the file in which Claude wrote it. */
const PLAN = "# Plan\n\n1. do it\n";

requireNamespace();
const CASES = NEOVIMS.flatMap((version) =>
  [false, true].map((isChanged) => ({ name: version.name, version, isChanged })),
);
describe.each(CASES)(
  "a plan in $name, changed in its file: $isChanged",
  ({ version, isChanged }) => {
    const claude = new InTerminal().inBlock(version, {
      files: { "main.lua": "return 1\n" },
      terminal: `permission_mode = "plan"`,
    });
    const { lua, keys } = claude;
    const name = () => lua<string>("return vim.fs.dirname(vim.api.nvim_buf_get_name(0))");
    let path = "";
    const received = (text: string) =>
      eventually(
        async () => claude.model.requests.some((one) => JSON.stringify(one).includes(text)),
        true,
      );

    async function plan(versions: string[]): Promise<void> {
      const written = versions.flatMap((content) => [
        [{ tool: "Write", input: { file_path: path, content } }],
        [{ tool: "ExitPlanMode", input: {} }],
      ]);
      claude.model.script([...written, [{ text: "Going on." }]]);
      await claude.send("make a plan");
      await eventually(name, "claude-code://plan", CASE_MS);
      expect((await claude.lines()).join("\n")).toBe(versions[0]?.trimEnd() ?? "");
    }

    async function begin(...versions: string[]): Promise<void> {
      await lua(`
      vim.ui.input = function(_, callback) callback("first the tests") end
      vim.ui.select = function(items, options, callback)
        WAYS = vim.tbl_map(options.format_item, items)
        callback(items[2])
      end
      return true`);
      await claude.begin();
      claude.model.script([[{ text: "Hello." }]]);
      await claude.send("hi ".repeat(500)); // The CLI calls such a paste foreign, and adds no rules to a mod's prompt.
      await claude.showing(/Hello\./);
      const asked = JSON.stringify(claude.model.requests);
      path = /[^" \\]*\/plans\/[^"\\ ]*\.md/.exec(asked)?.[0] ?? "";
      await plan(versions);
      await Bun.sleep(500); // Longer than a pause in typing: the key is meant for it.
    }

    const changed = async () => {
      claims("Only the plan that you saw is approved");
      await begin(PLAN);
      writeFileSync(path, "# Plan\n\n1. EVIL\n");
      await keys("<CR>");
      await received("Approved Plan");
      expect(JSON.stringify(claude.model.requests)).not.toContain("EVIL");
      expect(readFileSync(path, "utf8")).toBe(PLAN.trimEnd());
    };

    const edited = async () => {
      await begin("# Plan\n\n1. look\n", PLAN);
      await keys("GgCq");
      await received("first the tests");
      await eventually(() => lua("return vim.wo.winbar:match('version %d')"), "version 2", CASE_MS);
      await Bun.sleep(500);
      await keys("Go2. and test it<Esc><CR>");
      await eventually(async () => readFileSync(path, "utf8"), `${PLAN}2. and test it\n`, CASE_MS);
      expect(await lua<string[]>("return WAYS")).toHaveLength(3);
      await received("Approved Plan (edited by user)");
      await received("2. and test it");
      await claude.showing(/accept edits on/);
      expect(await name()).not.toContain("plan");
    };

    test(
      isChanged
        ? "gives Claude the plan that was shown"
        : "sends comments to Claude, which continues to plan, and approves the edited text",
      isChanged ? changed : edited,
      2 * CASE_MS,
    );
  },
);
