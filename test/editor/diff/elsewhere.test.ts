import fc from "fast-check";
import { NEOVIMS, type NeovimVersion } from "#test";
import { FUZZ_TIMEOUT_MS, tries } from "../../fuzz/effort";
import { Attached } from "../attached";

/* Diffs and plans that appear while the user works elsewhere: no key that was meant for that decides them. */

const OLD = "a\nb\nc\nd\ne\n";
const QUIET_MS = 400;
/** After this time, a key that decides is meant for whatever has the cursor. */
const SEEN_MS = 5 * QUIET_MS;

const COMMIT = "vim.cmd.new('COMMIT_EDITMSG') vim.bo.filetype = 'gitcommit'";
/** Places where the user works: Lua or keys lead there, from a.txt in the current window. */
const PLACES: Record<string, { lua?: string; keys?: string }> = {
  "a prompt": { lua: "vim.cmd('Claude prompt')", keys: "write tests<Esc>" },
  "a commit message": { lua: COMMIT },
  "a written commit message": { lua: COMMIT, keys: "iFix it<Esc>" },
  "a rebase": { lua: "vim.cmd.edit('git-rebase-todo') vim.bo.filetype = 'gitrebase'" },
  "the quickfix list": { lua: "vim.fn.setqflist(ITEMS) vim.cmd.copen()" },
  "a location list": { lua: "vim.fn.setloclist(0, ITEMS) vim.cmd.lopen()" },
  help: { lua: "vim.cmd.new('help') vim.bo.buftype = 'help'" },
  "the command-line window": { keys: "q:iecho 1<Esc>" },
  "a terminal of their own": { lua: "vim.cmd('split | terminal cat')" },
  "a modified file": { keys: "imine <Esc>" },
  "an acwrite buffer": {
    lua: "vim.cmd.new('remote') vim.bo.buftype = 'acwrite' WRITTEN(0)",
    keys: "itext<Esc>",
  },
  "a tree": { lua: "vim.cmd('new') vim.bo.buftype = 'nofile'" },
  "an ordinary file": {},
  "Claude's terminal": { lua: "vim.cmd('split | terminal cat') vim.b.claude_code_terminal = true" },
};
/** In these places, the cursor moves to what appears. */
const GIVING = ["an ordinary file", "Claude's terminal"];

/** In another tab page an unnamed buffer with text keeps `:q` and `:wqa` from ending Neovim. */
const SETUP = `
  DONE, ITEMS = {}, { { filename = "a.txt", lnum = 4, text = "d" } }
  vim.o.hidden, vim.o.cmdheight = true, 4
  vim.bo.swapfile = false
  function WRITTEN(buf)
    vim.api.nvim_create_autocmd("BufWriteCmd", { buffer = buf, callback = function()
      DONE.written, vim.bo.modified = true, false
    end })
  end
  function GO(code, is_beside)
    if vim.fn.reg_recording() ~= "" then vim.api.nvim_feedkeys("q", "nx", false) end
    if vim.fn.getcmdwintype() ~= "" then vim.cmd("quit!") end
    vim.cmd("silent! tabonly! | silent! only! | enew!")
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if buf ~= vim.api.nvim_get_current_buf() then vim.api.nvim_buf_delete(buf, { force = true }) end
    end
    vim.api.nvim_buf_set_lines(0, 0, -1, true, { "keep" })
    vim.cmd("messages clear | tabedit a.txt")
    if is_beside then vim.cmd("vsplit c.txt | wincmd p") end
    DONE = {}
    loadstring(code)()
  end
  function INSIDE() return vim.api.nvim_buf_get_name(0):find("^claude%-code://%d") ~= nil
    or vim.b.claude_code_plan == true end
  function ASK(channel, id)
    local rows = require("port").session_rows
    local n = rows.add({})
    rows.report({ n = n }, "terminal", { state = "blocked", kind = "permission" })
    return { channel = channel, id = id, n = n, tool = "ExitPlanMode", title = "Plan", lines = {},
      suggestions = {}, plan = "# Plan\\n" }
  end
  function FORGET()
    local rows = require("port").session_rows
    for _, row in ipairs(rows.list()) do rows.remove(row.n) end
  end`;

type Thing = "diff" | "plan";

/** A user who looks at the screen only occasionally. */
class User {
  /** Requests that were answered. */
  readonly answered: unknown[] = [];
  #requests = 0;
  #diffs: number[] = [];
  #insideFor = 0;

  private constructor(readonly a: Attached) {
    a.nvim.api.on(
      "notification",
      (_method: string, [event, payload]: [string, { answer: object }]) => {
        if (event === "settled" && "value" in payload.answer) this.answered.push(payload);
      },
    );
  }

  static async start(version: NeovimVersion, hasUI = true): Promise<User> {
    const ui = hasUI ? { ui: { width: 160, height: 45 } } : {};
    const a = await Attached.start({ version, waitsForPauses: true, ...ui });
    for (const name of ["a.txt", "b.txt", "c.txt"]) a.file(name, OLD);
    await a.attach();
    await a.holdClock();
    await a.nvim.lua(SETUP);
    return new User(a);
  }

  async goesTo(place: string, isBeside: boolean): Promise<void> {
    this.a.file("a.txt", OLD);
    this.a.file("COMMIT_EDITMSG", "");
    await this.a.nvim.type("<C-\\><C-n>");
    await this.a.nvim.lua("GO(...)", PLACES[place]?.lua ?? "", isBeside);
    await this.types(PLACES[place]?.keys ?? "");
    await this.pauses(QUIET_MS);
  }

  /** Keys in a row, each soon after the other. */
  async types(keys: string): Promise<void> {
    for (const key of keys.match(/<[^>\s]+>|ZZ|ZQ|dd|./g) ?? []) {
      await this.a.nvim.type(key);
      if (!(await this.#isBlocked())) await this.a.advance(40);
    }
    // `q` started a recording, or a message is too long.
    while (await this.#isBlocked()) await this.a.nvim.type("<Esc>");
    this.#insideFor = (await this.isInside()) ? this.#insideFor : 0;
  }

  async #isBlocked(): Promise<boolean> {
    return (await this.a.nvim.mode()).blocking;
  }

  async pauses(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.a.advance(100);
      this.#insideFor = (await this.isInside()) ? this.#insideFor + 100 : 0;
    }
  }

  isInside(): Promise<boolean> {
    return this.a.nvim.lua("return INSIDE()");
  }

  /** Does the tab page in which they work still exist? */
  isThere(): Promise<boolean> {
    return this.a.nvim.lua("return vim.fn.tabpagenr() > 1");
  }

  /** Whether the cursor has been there long enough that the next key is meant for it. */
  get hasSeen(): boolean {
    return this.#insideFor >= SEEN_MS - 100;
  }

  async receives(thing: Thing): Promise<void> {
    if (thing === "diff") {
      this.#diffs.push(await this.a.propose(this.a.path("b.txt"), "new\n"));
    } else {
      const asked = await this.a.nvim.lua<object>(
        "return ASK(...)",
        this.a.channel,
        ++this.#requests,
      );
      await this.a.call("permission_request", asked);
    }
  }

  decided(): unknown[] {
    return [...this.a.ended.splice(0), ...this.answered.splice(0)];
  }

  /** The user has noticed it, and closes it by means other than keys. */
  async forgets(): Promise<void> {
    await this.a.nvim.type("<C-\\><C-n>");
    await this.a.nvim.lua("FORGET()");
    await this.a.call("diff_close", { ids: this.#diffs.splice(0) });
    await this.pauses(300);
  }
}

describe.each(NEOVIMS)("$name", (version) => {
  let me: User;
  beforeAll(async () => {
    me = await User.start(version);
  });
  afterAll(() => me.a[Symbol.asyncDispose]());

  const message = "vim.fn.bufwinid('COMMIT_EDITMSG') < 0 and vim.fn.readfile('COMMIT_EDITMSG')[1]";
  const isShown = (name: string) => `vim.fn.bufwinid("${name}") > 0`;
  const again = `vim.fn.execute("messages"):find("again") ~= nil`;
  test.each([
    ["a prompt", ":wq<CR>", isShown("prompt/1"), false],
    ["a prompt", "ZZ", isShown("prompt/1"), false],
    ["a written commit message", ":wq<CR>", message, "Fix it"],
    ["a written commit message", "ZZ", message, "Fix it"],
    ["a rebase", ":x<CR>", isShown("git-rebase-todo"), false],
    ["a modified file", ":w<CR>", "vim.fn.readfile('a.txt')[1]", "mine a"],
    ["a modified file", ":x<CR>", "vim.fn.readfile('a.txt')[1]", "mine a"],
    ["the quickfix list", "<CR>", "vim.fn.line('.')", 4],
    ["a location list", "<CR>", "vim.fn.line('.')", 4],
    ["help", ":q<CR>", isShown("help"), false],
    ["the command-line window", "<CR>", "vim.fn.getcmdwintype()", ""],
    ["a terminal of their own", ":q<CR>", "vim.bo.buftype == 'terminal'", false],
    ["an acwrite buffer", ":wq<CR>", "DONE.written", true],
    ["a tree", "<CR>", "vim.bo.buftype", "nofile"],
    ["an ordinary file", ":wq<CR>", again, true],
    ["an ordinary file", "ZZ", again, true],
    ["Claude's terminal", "<CR>", again, true],
  ])(
    "in %s, %s does its work there, and decides nothing",
    async (place, keys, effect, expected) => {
      for (const thing of ["diff", "plan"] as const)
        for (const isBeside of [false, true]) {
          await me.goesTo(place, isBeside);
          await me.receives(thing);
          // Most seem to end 0.8 s after it has appeared.
          await me.pauses(800);
          expect(await me.isInside()).toBe(GIVING.includes(place));
          await me.types(keys);
          if (effect !== again || thing === "diff" || keys === "<CR>")
            expect(await me.a.nvim.lua(`return ${effect}`)).toEqual(expected);
          if (!GIVING.includes(place))
            await me.a.says(thing === "diff" ? ":Claude diff" : ":Claude answer");
          await me.pauses(QUIET_MS);
          if (!GIVING.includes(place)) await me.types("<CR>q");
          expect(me.decided()).toEqual([]);
          await me.forgets();
        }
    },
  );

  test("waits without a UI, too, until it is asked for; then a key decides it", async () => {
    const alone = await User.start(version, false);
    await using a = alone.a;
    await alone.goesTo("the quickfix list", false);
    await a.nvim.lua("vim.notify = function(text) TOLD = text end");
    for (const thing of ["diff", "plan"] as const) {
      await alone.receives(thing);
      await alone.pauses(3 * SEEN_MS);
      const way = thing === "diff" ? ":Claude diff" : ":Claude answer";
      await a.nvim.until("the message", "return (TOLD or ''):find(...) ~= nil", way);
      expect(await alone.isInside()).toBe(false);
      await a.nvim.command(way.slice(1));
      expect(await alone.isInside()).toBe(true);
      await alone.types("<CR>");
      expect(alone.decided()).toEqual([]);
      await alone.pauses(QUIET_MS);
      await alone.types(thing === "diff" ? "<CR>" : "Q");
      if (thing === "diff") expect(alone.decided()).toHaveLength(1);
      else expect(await a.mode()).toBe("c");
      await alone.pauses(QUIET_MS);
    }
  });

  const Keys = fc.constantFrom(
    ...":wq<CR> ZZ :w<CR> <CR> q :q<CR> dd iwords<Esc> :x<CR> :wqa<CR>".split(" "),
    ..."<C-w>q <C-w>c ZQ u j :wa<CR> :up<CR> <Esc> oline<Esc>:w<CR>".split(" "),
  );
  const Act = fc.oneof(
    Keys.map((keys) => ({ keys })),
    fc.integer({ min: 1, max: 30 }).map((tenths) => ({ ms: tenths * 100 })),
    fc.constantFrom("diff", "diff", "plan").map((thing) => ({ thing: thing as Thing })),
  );
  const Rounds = fc.array(
    fc.record({
      place: fc.constantFrom(...Object.keys(PLACES)),
      isBeside: fc.boolean(),
      acts: fc.array(Act, { minLength: 4, maxLength: 12 }),
    }),
    { minLength: 1, maxLength: 2 },
  );
  test(
    "keys typed elsewhere decide nothing, whatever they are and whenever it appears",
    async () => {
      const property = fc.asyncProperty(Rounds, async (rounds) => {
        if (me.a.nvim.process.exitCode !== null) me = await User.start(version);
        for (const { place, isBeside, acts } of rounds) {
          await me.goesTo(place, isBeside);
          for (const act of acts) {
            if ("ms" in act) await me.pauses(act.ms);
            else if ("thing" in act) await me.receives(act.thing);
            else if (!me.hasSeen) await me.types(act.keys);
            expect(me.decided()).toEqual([]);
            // A user who has typed something looks where it went.
            const looks = "keys" in act || me.hasSeen;
            if (looks && (await me.isInside())) await me.forgets();
            if (looks && !(await me.isThere())) await me.goesTo(place, isBeside);
          }
          await me.forgets();
        }
      });
      await fc.assert(property, { numRuns: tries(80) });
    },
    FUZZ_TIMEOUT_MS,
  );
});
