/**
 * `scripts/demo` shows the main features, step by step, in a real Neovim. A small client sends what the CLI sends, so
 * the demo needs neither an account nor a network. Exits 1 as soon as a step fails.
 */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestClient } from "../test/support/client";
import { eventually } from "../test/support/eventually";
import { runHook } from "../test/support/hook";
import { isolatedEnv, NEWEST, TestNeovim, temporaryFolder } from "../test/support/neovim";

const BEFORE = `export interface Item {
  name: string;
  price: number;
}

export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  return sum;
}
`;

/** A shorter version with a mistake. */
const PROPOSAL = BEFORE.replace(
  /let sum[\s\S]*return sum;/,
  "return items.reduce((sum, item) => sum + item.prise, 0);",
);

/** Claude then writes this without asking. It fixes the mistake, and adds something unrequested. */
const CORRECTED = PROPOSAL.replace("prise", "price");
const TAXED = CORRECTED.replace("price: number;", "price: number;\n  tax: number;");

const SCREEN = { width: 110, height: 20 };

/** The text on Neovim's screen. */
const SCREENSHOT = `
  vim.cmd.redraw()
  local text = ""
  for row = 1, vim.o.lines do
    for column = 1, vim.o.columns do text = text .. vim.fn.screenstring(row, column) end
    text = text .. "\\n"
  end
  return text`;

async function playProposal(file: string, neovim: TestNeovim): Promise<void> {
  step("Neovim has started the server, which wrote the lock file that Claude Code looks for");
  const lock = await neovim.lock();
  const mode = (statSync(lock.path).mode & 0o777).toString(8);
  say(`${lock.path.replace(neovim.home, "~")} (mode ${mode})`);
  say(JSON.stringify({ ...lock.content, authToken: "(hidden)" }));

  step("Claude connects to that port, with the token from that file");
  using claude = await TestClient.open(lock, "demo");
  const { tools } = await claude.request<{ tools: { name: string }[] }>("tools/list");
  say(`connected to ws://127.0.0.1:${lock.port}`);
  say(`tools: ${tools.map((tool) => tool.name).join(", ")}`);

  step("It proposes an edit, which Neovim shows beside the file");
  const answer = claude.texts("openDiff", {
    old_file_path: file,
    new_file_path: file,
    new_file_contents: PROPOSAL,
    tab_name: "shop.ts",
  });
  await eventually("the diff", () => neovim.lua<boolean>("return vim.wo.diff"));
  show(await neovim.lua<string>(SCREENSHOT));
  check(readFileSync(file, "utf8") === BEFORE, "the file on disk is as it was");

  step("<CR> in Neovim accepts it");
  await neovim.type("<CR>");
  const [verdict, text] = await answer;
  say(`the answer to Claude: ${verdict}`);
  check(text === PROPOSAL && readFileSync(file, "utf8") === PROPOSAL, "the proposal is on disk");
  await eventually("the buffer", () => neovim.lua("return vim.fn.search('prise') > 0"));
  say("Neovim's buffer follows");
  show(difference(BEFORE, file));
}

async function playReview(file: string, neovim: TestNeovim): Promise<void> {
  const call = { session_id: "demo", prompt_id: "first", cwd: neovim.cwd };
  const hook = async (event: string, input: object) => {
    const env = isolatedEnv(neovim.home);
    const { code } = await runHook({ event, input: { ...call, ...input }, cwd: neovim.cwd, env });
    check(code === 0, `the hook ${event} has run`);
  };

  step("In another mode Claude does not ask: it writes, and its hooks record what it changed");
  await hook("user-prompt-submit", { prompt: "Fix the error" });
  writeFileSync(file, TAXED);
  await hook("post-tool-use", {
    tool_name: "Edit",
    tool_use_id: "edit-1",
    tool_input: { file_path: file },
    tool_response: { type: "update", originalFile: PROPOSAL },
  });
  await hook("session-end", {});
  await eventually("two changes to review", async () => (await waiting(neovim)) === 2);
  say(await neovim.lua<string>('return require("claude-code").statusline()'));

  step(":Claude review lists every hunk, and goes to the first one");
  await neovim.command("Claude review");
  await eventually("the bar", () => neovim.lua<boolean>('return vim.wo.winbar:find("1/2") ~= nil'));
  show(await neovim.lua<string>(SCREENSHOT));

  step("gr undoes it, and leads on to the next one; ga keeps that");
  await neovim.type("gr");
  await eventually("one change left", async () => (await waiting(neovim)) === 1);
  await eventually("the next hunk", () => neovim.lua<boolean>("return vim.fn.line('.') > 5"));
  await neovim.type("ga");
  await eventually("nothing left", async () => (await waiting(neovim)) === 0);
  check(readFileSync(file, "utf8") === CORRECTED, "the correction is on disk, and the rest is not");
  show(difference(PROPOSAL, file));
}

function waiting(neovim: TestNeovim): Promise<number> {
  return neovim.lua('return require("claude-code.editor.review").count()');
}

function difference(before: string, file: string): string {
  const command = ["diff", "-u", "--label", "before", "--label", "after", "-", file];
  return Bun.spawnSync(command, { stdin: Buffer.from(before) }).stdout.toString();
}

let steps = 0;

function step(title: string): void {
  steps += 1;
  const line = `${steps}. ${title}`;
  print(process.stdout.isTTY ? `\n\x1b[1m${line}\x1b[0m` : `\n${line}`);
}

/** The `neovim` client replaces console.log. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function say(text: string): void {
  print(`   ${text}`);
}

function show(text: string): void {
  for (const line of text.trimEnd().split("\n")) print(`   | ${line.trimEnd()}`);
}

function check(holds: boolean, claim: string): void {
  if (!holds) throw new Error(`this does not hold: ${claim}`);
  say(claim);
}

const project = temporaryFolder();
try {
  const file = join(project, "shop.ts");
  writeFileSync(file, BEFORE);
  await using neovim = await TestNeovim.start({
    version: NEWEST,
    cwd: project,
    ui: SCREEN,
    args: [file],
  });
  await playProposal(file, neovim);
  await playReview(file, neovim);
  step("Neovim ends");
  const { path } = await neovim.lock();
  await neovim.quit();
  check(!existsSync(path), "the lock file is gone with it");
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`\nscripts/demo failed: ${reason}\n`);
  process.exitCode = 1;
} finally {
  rmSync(project, { recursive: true, force: true });
}
