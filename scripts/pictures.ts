/**
 * Makes the README's pictures: plays the scenes with the genuine CLI in Neovim's terminal, and writes each screen to
 * doc/pictures/NAME.svg. Run it by scripts/pictures, which prepares the environment.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../test/genuine/eventually";
import { Neovim } from "../test/genuine/neovim";
import { claudeEnv, prepareClaudeHome } from "../test/support/claude-home";
import { Model } from "../test/support/model";
import { claudeCli, NEOVIMS, type NeovimVersion, ROOT } from "../test/support/toolchain";
import { edit, read, say } from "../test/support/turns";
import { parseScreen } from "./picture/screen";
import { svg } from "./picture/svg";

type Screens = Parameters<typeof svg>[0];

/** The scenes of the moving picture. */
const film: Screens = [];
const COLUMNS = 160;
const ROWS = 27;
const SHOP = `export interface Item {
  name: string;
  price: number;
  count: number;
}

/** The price of all items, without tax. */
export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  return sum;
}

/** The items that are cheaper than a limit. */
export function below(items: Item[], limit: number): Item[] {
  return items.filter((item) => item.price < limit);
}

/** One line for a bill. */
export function line(item: Item): string {
  return item.name + ": " + item.price * item.count;
}
`;
const LOOP = `  let sum = 0;
  for (const item of items) {
    sum += item.price * item.count;
  }
  return sum;
`;
const REDUCED = `  return items.reduce((sum, item) => sum + item.price * item.count, 0);
`;

const CONCATENATION = 'item.name + ": " + item.price * item.count';
const JOINED = '[item.name, item.price * item.count].join(": ")';

const ANSWER = `Both functions are **one expression** each now:

- \`total\` reduces the items to a sum.
- \`line\` joins name and price.

\`\`\`ts
const bill = items.map(line).join("\\n");
\`\`\`
`;

/** A tidy Neovim without other plugins. */
const LOOKS = `
  vim.o.termguicolors = true
  vim.o.number = true
  vim.o.signcolumn = "no"
  vim.o.laststatus = 3
  vim.o.ruler = false
  vim.o.showcmd = false
  vim.o.fillchars = "eob: ,diff: ,vert:│"
  vim.o.statusline = " %f %m%=%{v:lua.require'claude-code'.statusline()} "
  vim.opt.shortmess:append("F")
  vim.cmd.redraw({ bang = true })
  return true`;

const LANGUAGE_SERVER = (bin: string) => `
  vim.lsp.start({
    name = "typescript",
    cmd = { [[${bin}/typescript-language-server]], "--stdio" },
    root_dir = vim.uv.cwd(),
    init_options = { tsserver = { path = [[${ROOT}/node_modules/typescript/lib/tsserver.js]] } },
  })
  return true`;

const root = await realpath(await mkdtemp(join(tmpdir(), "pictures-")));
const home = join(root, "home");
const project = join(home, "shop");
for (const folder of ["tmp", "run", "shop"]) await mkdir(join(home, folder), { recursive: true });
const file = join(project, "shop.ts");
await writeFile(file, SHOP);
await writeFile(join(project, "tsconfig.json"), '{ "compilerOptions": { "strict": true } }\n');
await prepareClaudeHome(home, project);
using model = new Model();
const neovim = await Neovim.start({
  ...{ version: NEOVIMS.at(-1) as NeovimVersion, project, home, files: [file] },
  setup: `{ terminal = { command = [[${claudeCli()}]], permission_mode = "default", size = 0.34 } }`,
  env: { ...claudeEnv(home, model.url), COLORTERM: "truecolor" },
  columns: COLUMNS,
  rows: ROWS,
});
try {
  await eventually(() => neovim.lua("return vim.v.vim_did_enter"), 1);
  await neovim.lua(LOOKS);
  await neovim.lua(LANGUAGE_SERVER(join(ROOT, "node_modules/.bin")));
  await play();
} finally {
  await neovim.close();
  await rm(root, { recursive: true, force: true, maxRetries: 5 });
}

async function play(): Promise<void> {
  const command = (text: string) => neovim.lua(`vim.cmd([[${text}]]) return true`);
  const shows = (text: string) => neovim.terminal.waitFor(text, 20_000);

  await command("Claude");
  await shows("❯");
  await eventually(() => neovim.lua(`return #require("claude-code").status().clients`), 1, 20_000);
  await neovim.lua(`vim.cmd.wincmd("p") vim.cmd.stopinsert() return true`);
  await selectFunction();
  film.push(await screen());
  await neovim.terminal.press("Escape");

  model.script([read(file), edit(file, LOOP, REDUCED), say("`total` is one line now.")]);
  await command("Claude send! Write total() without a loop");
  await neovim.waitForDiff(SHOP.replace(LOOP, REDUCED));
  await shows("Opened changes in Neovim");
  film.push(await screen());
  await command("Claude diff reject");
  await shows("Rejected update");

  const joined = SHOP.replace(LOOP, REDUCED).replace(CONCATENATION, JOINED);
  const edits = [{ tool: "Write", input: { file_path: file, content: joined } }];
  model.script([edits, say("Done: one expression each.")]);
  await command("Claude focus");
  await neovim.terminal.press("BTab");
  await shows("accept edits on");
  await neovim.lua(`vim.cmd.wincmd("p") vim.cmd.stopinsert() return true`);
  await command("Claude send! Tidy up the whole file");
  await shows("one expression each");
  await eventually(() => neovim.lua(`return require("claude-code.editor.review").count()`), 2);
  await command("Claude review");
  film.push(await screen());
  await write("review", film.slice(-1), "What Claude changed without asking, hunk by hunk.");

  const key = (typed: string) => neovim.terminal.type(typed);
  await key("ga");
  await eventually(() => neovim.lua(`return require("claude-code.editor.review").count()`), 1);
  film.push(await screen());
  await key("gr");
  await eventually(() => neovim.lua(`return require("claude-code.editor.review").count()`), 0);
  film.push(await screen());
  await write("film", film, "Ask, see the edit as a diff, review what was changed without asking.");
  await command("cclose");
  await conversation(command, shows);
  await command("Claude new -n docs");
  await prompted(2);
  model.script([say("The README says so now.")]);
  await command("Claude send! Document total()");
  await shows("says so now");
  await command("Claude new -n tests");
  await prompted(3);
  model.script([[{ tool: "Bash", input: { command: "npm test" } }], say("All pass.")]);
  await command("Claude send! Run the tests");
  await shows("Do you want to proceed?");
  await neovim.lua(`vim.cmd.stopinsert() vim.cmd.wincmd("p") vim.cmd.mode() return true`);
  await write(
    "sessions",
    [await screen()],
    "Three Claudes; the one on screen asks for a permission.",
  );
}

/** Shows a conversation. */
async function conversation(
  command: (text: string) => Promise<unknown>,
  shows: (text: string) => Promise<unknown>,
): Promise<void> {
  model.script([read(file), [{ tool: "Bash", input: { command: "git status" } }], say(ANSWER)]);
  await command("Claude send! What has changed, and how do I print a bill?");
  await shows("joins name and price");
  await command("Claude transcript");
  await neovim.lua(`vim.cmd("normal! zRgg]]") return true`);
  await shows("❯ What has changed");
  await write("transcript", [await screen()], "The conversation as a Markdown buffer.");
}

/** Waits until all CLIs are connected, and the one on screen shows its prompt. */
async function prompted(count: number): Promise<void> {
  const clients = `return #require("claude-code").status().clients`;
  await eventually(() => neovim.lua<number>(clients), count, 20_000);
  await neovim.terminal.waitFor("❯", 20_000);
}

/** The CLI drops notifications in its first moments, and we do not repeat them. */
async function selectFunction(): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await neovim.terminal.press("Escape");
    await neovim.terminal.type("gg");
    await Bun.sleep(1_000);
    await neovim.terminal.type("8GVjjjjjj");
    try {
      await neovim.terminal.waitFor("7 lines selected", 2_000);
      return;
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

/** Waits until the screen no longer changes. */
async function screen(): Promise<Screens[number]> {
  let last = "";
  for (let same = 0; same < 5; ) {
    const now = await neovim.terminal.colours();
    same = now === last ? same + 1 : 0;
    last = now;
    await Bun.sleep(100);
  }
  return parseScreen(last.replace(/\n$/, ""));
}

async function write(name: string, screens: Screens, title: string): Promise<void> {
  await writeFile(join(ROOT, "doc/pictures", `${name}.svg`), svg(screens, COLUMNS, title));
  process.stdout.write(`doc/pictures/${name}.svg\n`);
}
