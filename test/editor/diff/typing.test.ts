import { existsSync } from "node:fs";
import { eventually, NEOVIMS, type NeovimVersion } from "#test";
import { Attached } from "../attached";

const UI = { width: 160, height: 40 };
const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 10\n", "LINE 10\n");
/** The length of a pause. Pauses are measured by a clock that only tests move. */
const QUIET_MS = 1_500;
const A_KEY_MS = 60;

/** Keys as a user's fingers make them, one after the other; after the first of two Neovim waits. */
function keysOf(text: string): string[] {
  return text.match(/<[^>\s]+>|ZZ|ZQ|gg|qq|./gs) ?? [];
}

/** Somebody who types, and what becomes of it. */
class User implements AsyncDisposable {
  private constructor(readonly a: Attached) {}

  static async start(version: NeovimVersion): Promise<User> {
    const a = await Attached.asNew({ version, ui: UI, waitsForPauses: true });
    await a.pauses(QUIET_MS);
    await a.attach();
    await a.holdClock();
    return new User(a);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.a[Symbol.asyncDispose]();
  }

  async type(text: string, every = A_KEY_MS): Promise<void> {
    for (const key of keysOf(text)) {
      await this.a.nvim.type(key);
      await this.pause(every);
    }
  }

  async pause(ms: number): Promise<void> {
    await this.a.advance(ms);
  }

  /** The lines of the proposal, which must not change by accident. */
  proposal(): Promise<string> {
    return this.a.nvim.lua('return require("port").diff_text("new")');
  }

  /** Is the cursor in the proposal? */
  inside(): Promise<boolean> {
    return this.a.nvim.lua(`
      local port = require("port")
      return port.diff_shown() and vim.api.nvim_get_current_buf() == port.diff_buffers().new`);
  }

  /** Whatever the terminal has drawn. */
  terminal(): Promise<string> {
    return this.a.nvim.lua(`
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.bo[buf].buftype == "terminal" then
          return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\\n")
        end
      end`);
  }

  /** Nothing was decided, the proposal is as proposed; it is looked at, and accepted. */
  async decidesNow(id: number): Promise<void> {
    await eventually("the cursor in the diff", async () => {
      // Some of what makes a diff wait ends by an event, in its own time.
      await this.pause(2 * QUIET_MS);
      return this.inside();
    });
    await this.pause(5 * QUIET_MS);
    expect(this.a.ended).toEqual([]);
    expect(await this.proposal()).toBe(NEW);
    expect(await this.a.mode()).toBe("n");
    await this.a.nvim.type("<CR>");
    expect(await this.a.outcome(id)).toEqual({ id, outcome: "accepted" });
  }
}

describe.each(NEOVIMS)("$name: keys typed for something else decide nothing", (version) => {
  test.each([
    ["beside a file", "vsplit | terminal cat"],
    ["beside a narrow file", "botright vertical 130split | terminal cat"],
    ["below a low file", "botright 34split | terminal cat"],
    ["alone", "terminal cat"],
  ])("lets a prompt in a terminal %s be written to its end", async (_, command) => {
    await using me = await User.start(version);
    const { a } = me;
    await a.edit(a.file("a.txt", OLD));
    await a.nvim.command(command);
    await a.nvim.command("let b:claude_code_terminal = v:true");
    await me.type("ithe newer ");
    const id = await a.propose(a.path("a.txt"), NEW);
    await me.type("lib, open :wq qed<CR>");
    expect(await a.mode()).toBe("t");
    await eventually("the whole prompt", async () =>
      (await me.terminal()).includes("the newer lib, open :wq qed"),
    );
    await me.decidesNow(id);
    await a.inMode("t");
  });

  test("does not decide the second of two by the second of two keys", async () => {
    await using me = await User.start(version);
    const { a } = me;
    const first = await a.propose(a.file("a.txt", OLD), NEW);
    const second = await a.propose(a.file("b.txt", OLD), NEW, { client: 2 });
    await me.pause(5 * QUIET_MS);
    await me.type("<CR><CR>", 120);
    expect(await a.outcome(first)).toEqual({ id: first, outcome: "accepted" });
    expect(await me.inside()).toBe(true);
    await me.type("<CR>q<CR>", 120);
    expect(a.ended).toHaveLength(1);
    await me.pause(2 * QUIET_MS);
    await a.nvim.type("q");
    expect(await a.outcome(second)).toEqual({ id: second, outcome: "rejected" });
  });

  test("ignores deciding keys typed blindly into a diff that has just appeared", async () => {
    await using me = await User.start(version);
    const { a } = me;
    await a.edit(a.file("a.txt", OLD));
    const id = await a.propose(a.path("a.txt"), NEW);
    expect(await me.inside()).toBe(true);
    await me.type("<CR>qQZZZQ:w<CR>:wq<CR>:x<CR>");
    expect(await me.inside()).toBe(true);
    expect((await a.messages()).match(/press <CR> again.*a.txt appeared just now/g)).toHaveLength(
      1,
    );
    await me.decidesNow(id);
  });

  test("takes all other keys at once, and maps those that decide", async () => {
    await using me = await User.start(version);
    const { a } = me;
    const id = await a.propose(a.file("a.txt", OLD), NEW);
    expect(await a.nvim.lua(`return vim.fn.maparg("<CR>", "n", false, true).desc`)).toBe(
      "Claude: accepts the proposal, with your changes to it",
    );
    await me.type("x");
    expect(await me.proposal()).toBe(NEW.replace("LINE 10", "INE 10"));
    await me.type("u");
    await me.decidesNow(id);
  });

  test.each([":w", ":q"])("decides nothing by an early %s", async (keys) => {
    await using me = await User.start(version);
    const { a } = me;
    const id = await a.propose(a.file("a.txt", OLD), NEW);
    await me.type(keys);
    await me.pause(QUIET_MS);
    await me.type("<CR>");
    if (keys === ":w") await a.says("nothing was written");
    else await a.plays("<Ignore>  diffs wait 1  ended =");
    if (keys === ":q") await a.nvim.command("Claude diff");
    await me.decidesNow(id);
  });

  test("decides nothing by a mapping that writes", async () => {
    await using me = await User.start(version);
    const { a } = me;
    const mappings = ["<F2> :w<CR>", "<F3> :wq<CR>", "<F4> :w copy.txt<CR>", "<F5> <Cmd>w<CR>"];
    for (const mapping of mappings) await a.nvim.command(`nnoremap ${mapping}`);
    const id = await a.propose(a.file("a.txt", OLD), NEW);
    await me.type("<F2><F3><F4><F5>");
    expect(await me.inside()).toBe(true);
    expect(await a.messages()).toContain(
      "write again, nothing was written: the change of a.txt appeared just now",
    );
    expect(existsSync(a.path("copy.txt"))).toBe(false);
    await me.pause(2 * QUIET_MS);
    expect(a.ended).toEqual([]);
    await a.nvim.type("<F3>");
    expect(await a.outcome(id)).toEqual({ id, outcome: "accepted" });
  });

  test("decides at once by commands and functions, and by keys after a pause", async () => {
    await using me = await User.start(version);
    const { a } = me;
    const path = a.file("a.txt", OLD);
    const ids = [];
    for (let i = 0; i < 4; i++) ids.push(await a.propose(path, NEW));
    await a.nvim.command("Claude diff accept");
    await a.nvim.lua('require("port").reject()');
    await a.nvim.command("Claude diff drop-hunk");
    expect(await me.proposal()).toBe(OLD);
    await a.nvim.command("normal! u");
    await a.pauses(0);
    await a.nvim.type("<CR>");
    await a.outcome(ids[2] as number);
    await a.nvim.type("q");
    await a.outcome(ids[3] as number);
    expect(a.ended.map((end) => end.outcome)).toEqual([
      "accepted",
      "rejected",
      "accepted",
      "rejected",
    ]);
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
