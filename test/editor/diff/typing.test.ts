import { eventually, NEOVIMS, needs, oneLine } from "#test";
import { Attached } from "../attached";

const UI = { width: 160, height: 40 };
const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 10\n", "LINE 10\n");
/** The length of a pause, by a clock that only tests move. */
const QUIET_MS = 1_500;
const INSIDE = "{expand('%:t')} a.txt (proposed)";

describe.each(NEOVIMS)("$name: keys typed for something else do not decide anything", (version) => {
  async function start(): Promise<Attached> {
    const a = await Attached.asNew({ version, ui: UI, waitsForPauses: true });
    await a.pauses(QUIET_MS);
    await a.attach();
    await a.holdClock();
    return a;
  }

  /** Types keys one after the other, as fingers do; Neovim waits after the first of two. */
  async function types(a: Attached, text: string, every = 60): Promise<void> {
    for (const key of text.match(/<[^>\s]+>|ZZ|ZQ|./g) ?? []) {
      await a.nvim.type(key);
      await a.advance(every);
    }
  }

  /** Nothing was decided, and the proposal is unchanged; the user looks at it, and accepts. */
  async function decidesNow(a: Attached): Promise<void> {
    // Some of what makes a diff wait ends by an event, in its own time.
    await eventually("the cursor in the diff", async () => {
      await a.advance(2 * QUIET_MS);
      return a.nvim.lua<boolean>("return vim.fn.expand('%:t') == 'a.txt (proposed)'");
    });
    await a.advance(5 * QUIET_MS);
    await a.plays(`
      <Ignore>   ${INSIDE}   ended =   new = ${oneLine(NEW)}   mode n
      <CR>       ended = accepted
    `);
  }

  needs("a shell").each([
    ["beside a file", "vsplit | terminal cat"],
    ["beside a narrow file", "botright vertical 130split | terminal cat"],
    ["below a low file", "botright 34split | terminal cat"],
    ["alone", "terminal cat"],
  ])("lets a prompt in a terminal %s be written to its end", async (_, command) => {
    await using a = await start();
    await a.edit(a.file("a.txt", OLD));
    await a.nvim.command(command);
    await a.nvim.command("let b:claude_code_terminal = v:true");
    await types(a, "ithe newer ");
    await a.propose(a.path("a.txt"), NEW);
    await types(a, "lib, open :wq qed<CR>");
    await a.plays("<Ignore>  mode t  lines the newer lib, open :wq qed");
    await decidesNow(a);
    await a.inMode("t");
  });

  test("does not decide the second diff when the user presses the key twice", async () => {
    await using a = await start();
    await a.propose(a.file("b.txt", OLD), NEW);
    await a.propose(a.file("a.txt", OLD), NEW, { client: 2 });
    await a.advance(5 * QUIET_MS);
    await types(a, "<CR><CR>", 120);
    await a.plays(`<Ignore>  ended = accepted  ${INSIDE}`);
    await types(a, "<CR>q<CR>", 120);
    await a.plays("<Ignore>  ended = accepted");
    await a.advance(2 * QUIET_MS);
    await a.plays("q  ended = accepted rejected");
  });

  test("takes all other keys at once, and maps those that decide", async () => {
    await using a = await start();
    await a.propose(a.file("a.txt", OLD), NEW);
    const description = "Claude: accepts the proposal, with your changes to it";
    await a.plays(`
      <Ignore>   {maparg('<CR>', 'n', 0, 1).desc} ${description}
      x          new |INE 10|
      u          new |LINE 10|
    `);
    await decidesNow(a);
  });

  test.each([
    [":w", "says nothing was written", "<Ignore>"],
    [":q", "diffs wait 1", ":Claude diff"],
  ])("decides nothing by an early %s", async (keys, seen, back) => {
    await using a = await start();
    await a.propose(a.file("a.txt", OLD), NEW);
    await types(a, keys);
    await a.advance(QUIET_MS);
    await a.plays(`
      <CR>      ended =   ${seen}
      ${back}   ended =
    `);
    await decidesNow(a);
  });

  test("does not decide when a mapping writes", async () => {
    await using a = await start();
    const mappings = ["<F2> :w<CR>", "<F3> :wq<CR>", "<F4> :w copy.txt<CR>", "<F5> <Cmd>w<CR>"];
    for (const mapping of mappings) await a.nvim.command(`nnoremap ${mapping}`);
    await a.propose(a.file("a.txt", OLD), NEW);
    await types(a, "<F2><F3><F4><F5>");
    const words = "write again, nothing was written: the change of a.txt appeared just now";
    await a.plays(`<Ignore>  ${INSIDE}  says ${words}  disk copy.txt = absent`);
    await a.advance(2 * QUIET_MS);
    await a.plays(`
      <Ignore>   ended =
      <F3>       ended = accepted
    `);
  });

  test("decides at once with commands and functions, and after a pause with keys", async () => {
    await using a = await start();
    const path = a.file("a.txt", OLD);
    for (let i = 0; i < 4; i++) await a.propose(path, NEW);
    await a.plays(`
      :Claude diff accept              ended = accepted
      :lua require("port").reject()    ended = accepted rejected
      :Claude diff drop-hunk           new = ${oneLine(OLD)}
      :normal! u
    `);
    await a.pauses(0);
    await a.plays(`
      <CR>   ended = accepted rejected accepted
      q      ended = accepted rejected accepted rejected
    `);
  });

  test("appears after a pause by a real clock, and is decided after another", async () => {
    await using a = await Attached.asNew({ version, ui: UI, waitsForPauses: true });
    await a.pauses(150);
    await a.attach();
    await a.edit(a.file("a.txt", OLD));
    await a.nvim.type("jj");
    const id = await a.propose(a.path("a.txt"), NEW);
    await a.shown();
    await a.decidable();
    await a.accepts(id);
  });
});
