import { expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LanguageProject } from "../language/world";
import { runHeadless } from "../support/claude";
import { Model } from "../support/model";
import { toolResults } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { NEWEST } from "../support/toolchain";
import { say } from "../support/turns";

/* The questions to language servers, as the genuine CLI (Claude Code 2.1.330) offers them. */
/** What is always loaded costs tokens in every request. */
const MOST_CHARACTERS = 2_600;

requireNamespace();

/** A project with the scripted server, a model, and the arguments of a CLI that Neovim starts. */
async function open(model: Model) {
  const files = { "one.txt": "def apple\nuse apple\n" };
  const world = await LanguageProject.open(NEWEST, files);
  const { folder, neovim } = world.project;
  mkdirSync(join(neovim.home, "tmp"), { recursive: true });
  const args = await neovim.launchArguments();
  return { world, run: { project: folder, home: neovim.home, model, args } };
}

test("claude -p and a subagent of it: the tools are in the request, loaded and short, and answer", async () => {
  using model = new Model();
  const { world, run } = await open(model);
  await using _world = world;
  const question = { symbol: "apple", path: "one.txt" };
  const task = { description: "sub", prompt: "SUB", subagent_type: "general-purpose" };
  model.script([
    [{ tool: "mcp__nvim-lsp__find_symbol", input: question }],
    [{ tool: "Agent", input: { ...task, run_in_background: false } }],
    [{ tool: "mcp__nvim-lsp__find_references", input: question }],
    say("sub done"),
    say("Done."),
  ]);
  expect(await runHeadless(run, "go")).toMatchObject({ code: 0, stdout: "Done.\n" });

  const [first, , sub] = model.requests;
  for (const request of [first, sub]) {
    const tools = (request?.tools ?? []) as { name: string; defer_loading?: boolean }[];
    const ours = tools.filter(({ name }) => /__(find_|rename_)/.test(name));
    expect(ours.map(({ name }) => name)).toContain("mcp__nvim-lsp__find_references");
    expect(ours.map(({ name }) => name)).toContain("mcp__nvim-lsp__find_symbol");
    expect(ours.filter(({ defer_loading }) => defer_loading)).toEqual([]);
    expect(JSON.stringify(ours).length).toBeLessThan(MOST_CHARACTERS);
  }
  const results = model.requests.flatMap(toolResults).join("\n");
  expect(results).toContain(
    "one.txt:1 apple: def apple\n  def apple\nas text reports; the text may match elsewhere",
  );
  expect(results).toContain("apple (one.txt:1): 1 use in 1 file\none.txt\n  2 use apple\n");
});

test("plan mode: questions are answered, a rename is not made", async () => {
  using model = new Model();
  const { world, run } = await open(model);
  await using _world = world;
  const question = { symbol: "apple", path: "one.txt" };
  model.script([
    [{ tool: "mcp__nvim-lsp__find_symbol", input: question }],
    [{ tool: "mcp__nvim-lsp__rename_symbol", input: { ...question, new_name: "pear" } }],
    say("Done."),
  ]);
  const args = [...run.args, "--permission-mode", "plan"];
  expect(await runHeadless({ ...run, args }, "go")).toMatchObject({ code: 0 });
  const results = model.requests.flatMap(toolResults).join("\n");
  expect(results).toContain(
    "one.txt:1 apple: def apple\n  def apple\nas text reports; the text may match elsewhere",
  );
  expect(results).not.toContain("renamed apple");
  expect(readFileSync(world.project.path("one.txt"), "utf8")).toBe("def apple\nuse apple\n");
});
