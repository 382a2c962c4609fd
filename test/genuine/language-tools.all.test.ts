import { mkdirSync, readFileSync } from "node:fs";
import { NEWEST } from "#test";
import { join } from "../../src/lib/platform";
import { LanguageProject } from "../language/world";
import { runHeadless } from "../support/claude";
import { Model } from "../support/model";
import { toolResults } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { say } from "../support/turns";

/* The questions to language servers, as the genuine CLI (Claude Code 2.1.330) offers them. */
/** Tools that are always loaded cost tokens in every request. */
const MAX_CHARACTERS = 2_600;

const APPLE = { symbol: "apple", path: "one.txt" };
const FOUND =
  "one.txt:1 apple: def apple\n  def apple\nas text reports; the text may match elsewhere";

requireNamespace();

/** A project with the scripted server, a model, and the arguments of a CLI that Neovim starts. */
async function open(model: Model) {
  const files = { "one.txt": "def apple\nuse apple\n" };
  const world = await LanguageProject.open(NEWEST, files);
  const { folder, neovim } = world.project;
  mkdirSync(join(neovim.home, "tmp"), { recursive: true });
  const args = await neovim.pluginArguments();
  return { world, run: { project: folder, home: neovim.home, model, args } };
}

test("answers by tools that are loaded and short, also in a subagent", async () => {
  using model = new Model();
  const { world, run } = await open(model);
  await using _world = world;
  const task = { description: "sub", prompt: "SUB", subagent_type: "general-purpose" };
  model.script([
    [{ tool: "mcp__plugin_claude-code-nvim_nvim-lsp__find_symbol", input: APPLE }],
    [{ tool: "Agent", input: { ...task, run_in_background: false } }],
    [{ tool: "mcp__plugin_claude-code-nvim_nvim-lsp__find_references", input: APPLE }],
    say("sub done"),
    say("Done."),
  ]);
  expect(await runHeadless(run, "go")).toMatchObject({ code: 0, stdout: "Done.\n" });

  const [first, , sub] = model.requests;
  for (const request of [first, sub]) {
    const tools = (request?.tools ?? []) as { name: string; defer_loading?: boolean }[];
    const ours = tools.filter(({ name }) => /__(find_|rename_)/.test(name));
    expect(ours.map(({ name }) => name)).toContain(
      "mcp__plugin_claude-code-nvim_nvim-lsp__find_references",
    );
    expect(ours.map(({ name }) => name)).toContain(
      "mcp__plugin_claude-code-nvim_nvim-lsp__find_symbol",
    );
    expect(ours.filter(({ defer_loading }) => defer_loading)).toEqual([]);
    expect(JSON.stringify(ours).length).toBeLessThan(MAX_CHARACTERS);
  }
  const results = model.requests.flatMap(toolResults).join("\n");
  expect(results).toContain(FOUND);
  expect(results).toContain("apple (one.txt:1): 1 use in 1 file\none.txt\n  2 use apple\n");
});

const RENAME = "mcp__plugin_claude-code-nvim_nvim-lsp__rename_symbol";

test.each<[string, string[], string]>([
  ["without the user's permission", [], "permission"],
  ["in plan mode", ["--permission-mode", "plan"], ""],
])("answers questions, and makes no rename, %s", async (_when, more, refusal) => {
  using model = new Model();
  const { world, run } = await open(model);
  await using _world = world;
  model.script([
    [{ tool: "mcp__plugin_claude-code-nvim_nvim-lsp__find_symbol", input: APPLE }],
    [{ tool: RENAME, input: { ...APPLE, new_name: "pear" } }],
    say("Done."),
  ]);
  const args = [...run.args, ...more];
  expect(await runHeadless({ ...run, args }, "go")).toMatchObject({ code: 0, stdout: "Done.\n" });
  const results = model.requests.flatMap(toolResults);
  expect(results[0]).toContain(FOUND);
  expect(results.at(-1)).toContain(refusal);
  expect(results.join()).not.toContain("renamed apple");
  expect(readFileSync(world.project.path("one.txt"), "utf8")).toBe("def apple\nuse apple\n");
});

test("lists in the review a rename that is allowed", async () => {
  using model = new Model();
  const { world, run } = await open(model);
  await using _world = world;
  model.script([[{ tool: RENAME, input: { ...APPLE, new_name: "pear" } }], say("Done.")]);
  const args = [...run.args, "--allowedTools", RENAME];
  expect(await runHeadless({ ...run, args }, "go")).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(model.requests.flatMap(toolResults)[0]).toContain("renamed apple to pear");
  expect(readFileSync(world.project.path("one.txt"), "utf8")).toBe("def pear\nuse pear\n");
  const glob = new Bun.Glob("review/*/journal.jsonl");
  const [journal = ""] = [...glob.scanSync({ cwd: world.project.state, absolute: true })];
  const records = readFileSync(journal, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const { session, prompt } = records.findLast(({ type }) => type === "prompt");
  const changes = records.filter(({ type, files }) => type === "change" && files.length > 0);
  const use = expect.stringMatching(/./);
  expect(changes).toMatchObject([{ session, prompt, tool: "rename_symbol", use }]);
});
