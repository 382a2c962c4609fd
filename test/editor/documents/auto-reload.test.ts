import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { claims, eventually, NEOVIMS, needs, nightly, shell } from "#test";
import { Attached } from "../attached";

/** How a program may replace a file: each from "one" to "two". */
const WRITERS: Record<string, string> = {
  "in place": "printf 'two\\n' > FILE",
  "perl -i": "perl -pi -e s/one/two/ FILE",
  "another file renamed over it": "printf 'two\\n' > FOLDER.tmp && mv FOLDER.tmp FILE",
  "deleted and written again": "rm FILE && sleep 0.15 && printf 'two\\n' > FILE",
  "its folder replaced":
    "mv FOLDER FOLDER.old && mkdir FOLDER && printf 'two\\n' > FILE && rm -r FOLDER.old",
  "truncated, then written": ": > FILE && sleep 0.1 && printf 'two\\n' > FILE",
};

/** Defines WATCHED(), which counts folders that are watched from now on. */
const RECORD_WATCHES = `
  local made, new = {}, vim.uv.new_fs_event
  vim.uv.new_fs_event = function()
    table.insert(made, (new()))
    return made[#made]
  end
  function WATCHED()
    return #vim.tbl_filter(function(handle) return handle:is_active() end, made)
  end`;

describe.each(NEOVIMS)("$name", (version) => {
  const UI = { width: 120, height: 40 };
  const start = () => Attached.asNew({ version, ui: UI });
  const clients = (a: Attached, list: object[]) => a.call("clients", { clients: list });
  const withClient = async () => {
    const a = await start();
    await a.attach();
    await clients(a, [{ id: 1, name: "claude-code" }]);
    return a;
  };
  const runShell = (a: Attached, command: string) => {
    const { exitCode, stderr } = Bun.spawnSync(shell(command), { cwd: a.nvim.cwd });
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  };
  const line = (a: Attached, buf: number) =>
    a.nvim.lua<string>("return vim.fn.getbufline(..., 1)[1]", buf);
  const shows = (a: Attached, buf: number, wanted: string, what = wanted) =>
    eventually(what, async () => expect(await line(a, buf)).toBe(wanted));
  /** Waits until Neovim has noticed one more change, and so all earlier ones. */
  const caughtUp = async (a: Attached) => {
    const path = a.file("last.txt", "before\n");
    const buf = await a.nvim.lua<number>("return require('port').load(...)", path);
    writeFileSync(path, "after\n");
    await shows(a, buf, "after");
  };
  const watches = (a: Attached, count: number) =>
    a.nvim.until(`${count} watched folders`, "return WATCHED() == ...", count);
  const noQuestion = async (a: Attached) =>
    expect(await a.nvim.mode()).toEqual({ mode: "n", blocking: false });

  test.each([
    ["just now", 0, true],
    ["a minute ago", 60, false],
  ])("waits for the text of a file that was emptied %s: %p", async (_when, seconds, isAwaited) => {
    await using a = await withClient();
    const path = a.file("empty.txt", "");
    const at = Date.now() / 1000 - seconds;
    utimesSync(path, at, at);
    await a.nvim.lua(`
      SLEPT, SLEEP = 0, vim.uv.sleep
      vim.uv.sleep = function(ms) SLEPT = SLEPT + 1; SLEEP(ms) end`);
    await a.edit(path);
    await a.call("document_reload", { path });
    const slept = await a.nvim.lua<number>("vim.uv.sleep = SLEEP return SLEPT");
    expect(slept > 0).toBe(isAwaited);
  });

  needs("FIFOs")("does not wait for a FIFO that replaces an open file", async () => {
    claims("FIFOs and endless files keep nothing waiting");
    await using a = await withClient();
    const [path, other] = [a.file("a.txt", "one\n"), a.file("b.txt", "one\n")];
    await a.nvim.command(`edit ${path} | split ${other}`);
    rmSync(path);
    Bun.spawnSync(["mkfifo", path]);
    writeFileSync(other, "two\n");
    await a.nvim.plays("<Ignore>  lines = two");
    await caughtUp(a);
    await a.nvim.plays(":wincmd w  lines = one");
  });

  for (const autoread of ["autoread", "noautoread"]) {
    test(`'${autoread}': what a shell writes reaches visible and hidden buffers, all tab pages`, async () => {
      await using a = await withClient();
      await a.nvim.command(`set ${autoread}`);
      const files: { what: string; command: string; folder: string; buf: number }[] = [];
      for (const place of ["window", "hidden", "tab"]) {
        for (const [index, [how, command]] of Object.entries(WRITERS).entries()) {
          if (place !== "hidden") await a.nvim.command("split");
          const folder = `${index}-${place}`;
          const buf = await a.edit(a.file(`${folder}/main.txt`, "one\n"));
          files.push({ what: `${how}, ${place}`, command, folder, buf });
        }
        if (place === "hidden") await a.nvim.command("tabnew");
      }
      const commands = files.map(({ command, folder }) =>
        command.replaceAll("FILE", `${folder}/main.txt`).replaceAll("FOLDER", folder),
      );
      runShell(a, `${commands.map((command) => `(${command}) &`).join(" ")} wait`);
      for (const { what, buf } of files) await shows(a, buf, "two", what);
      // It is watched from now on, even if it does not exist.
      for (const { folder } of files) a.file(`${folder}/main.txt`, "three\n");
      for (const { what, buf } of files) await shows(a, buf, "three", `${what}, again`);
      await noQuestion(a);
      expect(await a.messages()).toBe("");
      expect(await a.nvim.lua("return #vim.fn.getbufinfo({ bufmodified = 1 })")).toBe(0);
    });
  }

  test("notices a change while Neovim reads the whole file", async () => {
    await using a = await start();
    const path = a.file("alone/main.txt", "one\n");
    const buf = await a.edit(path);
    // This runs before our autocommand, as if a program wrote just after Neovim has read.
    await a.nvim.lua(`
      vim.api.nvim_create_autocmd("BufReadPost", {
        pattern = "*main.txt",
        once = true,
        callback = function() vim.fn.writefile({ "two" }, "${path}") end,
      })`);
    await a.attach();
    await clients(a, [{ id: 1, name: "claude-code" }]);
    await caughtUp(a);
    writeFileSync(path, "");
    await shows(a, buf, "two");
  });

  test("follows a folder again after it was missing for a long time", async () => {
    await using a = await withClient();
    const [path, other] = [a.file("src/main.txt", "one\n"), a.file("other.txt", "one\n")];
    const bufs = [await a.edit(path), await a.edit(other)] as const;
    await caughtUp(a);
    rmSync(a.path("src"), { recursive: true });
    await a.says("main.txt was deleted on disk");
    for (const text of ["two", "three"]) {
      a.file("src/main.txt", `${text}\n`);
      if (text === "two") writeFileSync(other, "two\n");
      await shows(a, bufs[0], text);
    }
    await shows(a, bufs[1], "two");
  });

  test("loads a change that comes while the previous one is read", async () => {
    await using a = await withClient();
    const path = a.file("src/main.txt", "one\n");
    const buf = await a.edit(path);
    await caughtUp(a);
    await a.nvim.lua(
      `local path = ...
       local watch, is_noticed = vim.uv.new_fs_event(), false
       watch:start(vim.fs.dirname(path), {}, function() is_noticed = true end)
       local file = io.open(path, "w")
       file:write("two\\n")
       file:close()
       -- This is like the middle of long work: nothing that needs Neovim's main loop runs.
       vim.wait(10000, function() return is_noticed end, 1, true)
       vim.api.nvim_exec_autocmds("BufReadPost", { buffer = 0, modeline = false })
       watch:close()`,
      path,
    );
    await shows(a, buf, "two");
  });

  needs("symlinks")(
    "follows files behind symlinks, private files, and files that are opened, named or made later",
    async () => {
      await using a = await withClient();
      const real = a.file("real/main.txt", "one\n");
      symlinkSync(a.path("real"), a.path("link"));
      symlinkSync(real, a.path("file.txt"));
      const secret = a.file("secrets/.env", "one\n");
      const bufs = [await a.edit(a.path("file.txt")), await a.edit(secret)];
      for (const [file, buf] of [
        [real, bufs[0]],
        [secret, bufs[1]],
      ] as const) {
        writeFileSync(file, "two\n");
        await shows(a, buf as number, "two", file);
      }
      const made = await a.edit(a.path("later.txt"));
      a.file("later.txt", "made\n");
      await shows(a, made, "made");
      const saved = await a.edit(a.path("new/folder/saved.txt"));
      await a.nvim.command("silent write ++p");
      a.file("new/folder/saved.txt", "two\n");
      await shows(a, saved, "two");
      rmSync(a.path("new/folder/saved.txt"));
      await a.says("saved.txt was deleted");
      await a.edit(a.file("before.txt", "one\n"));
      mkdirSync(a.path("renamed"));
      await a.nvim.command("saveas renamed/main.txt");
      const renamed = await a.nvim.lua<number>("return vim.api.nvim_get_current_buf()");
      a.file("renamed/main.txt", "two\n");
      await shows(a, renamed, "two");
    },
  );

  test("follows the file again once unsaved edits are undone", async () => {
    await using a = await withClient();
    await a.edit(a.file("main.lua", "one\n"));
    await a.nvim.type("Amine<Esc>");
    a.file("main.lua", "two\n");
    await a.nvim.plays("<Ignore>  says gm merges main.lua with your unsaved edits");
    // The plugin looks once more after a moment.
    await Bun.sleep(700);
    await a.nvim.plays("u  lines = two  {&modified} 0");
  });

  test("keeps unsaved edits that conflict, and says so once for each change", async () => {
    await using a = await withClient();
    const path = a.file("main.lua", "one\n");
    await a.nvim.command(`edit ${path} | call setline(1, 'mine')`);
    const text =
      "gm merges main.lua with your unsaved edits, which conflict with what was written to it";
    const said = async () => (await a.messages()).split(text).length - 1;
    for (let times = 1; times <= 2; times++) {
      writeFileSync(path, `theirs ${times}\n`);
      await eventually("the message", async () => expect(await said()).toBe(times));
      await a.call("document_reload", { path });
      await caughtUp(a);
      expect([await said(), await a.lines()]).toEqual([times, ["mine"]]);
    }
    await noQuestion(a);
    await a.nvim.plays(":silent edit!  lines = theirs 2");
  });

  test("drops an unsaved edit that the file already has, without a message", async () => {
    await using a = await withClient();
    const path = a.file("main.lua", "one\n");
    await a.nvim.command(`edit ${path} | call setline(1, 'two')`);
    writeFileSync(path, "two\n");
    await a.nvim.plays("<Ignore>  {&modified} 0  says ! unsaved edits");
    await noQuestion(a);
  });

  test("keeps the buffer of a deleted file, and says so once", async () => {
    await using a = await withClient();
    const buf = await a.edit(a.file("main.lua", "one\n"));
    rmSync(a.path("main.lua"));
    const text = "main.lua was deleted on disk; its buffer is kept, and :w writes the file again";
    const said = async () => (await a.messages()).split(text).length - 1;
    await eventually("the message", async () => expect(await said()).toBe(1));
    a.file("other.txt", "x\n");
    await a.nvim.command("checktime");
    await caughtUp(a);
    expect(await said()).toBe(1);
    expect(await a.messages()).not.toContain("E211");
    expect(await line(a, buf)).toBe("one");
    a.file("main.lua", "two\n");
    await shows(a, buf, "two");
    for (const name of ["1.txt", "2.txt", "3.txt"]) await a.edit(a.file(name, "one\n"));
    for (const name of ["1.txt", "2.txt", "3.txt"]) rmSync(a.path(name));
    await a.says("3 open files were deleted on disk");
  });

  const TERMINAL = `PORT.server.ensure = function(_, done) done() end PORT.terminal.open({})
    vim.wait(9000, PORT.running.is_any_open)`;
  const BEGIN_AND_END: [why: string, begin: string, end: string][] = [
    [
      "a client",
      'CALL("clients", { clients = { { id = 1 } } })',
      'CALL("clients", { clients = {} })',
    ],
    ["the executable's end", 'CALL("clients", { clients = { { id = 1 } } })', "PORT.detach()"],
    ["a session's hooks", 'CALL("session_start", HOOK)', 'CALL("session_finish", HOOK)'],
    ["a terminal with Claude in it", TERMINAL, "PORT.terminal.close()"],
  ];
  for (const [why, begin, end] of BEGIN_AND_END) {
    test(`${why}: files are followed as long as it lasts, and nothing is left afterwards`, async () => {
      await using a = await Attached.start({ version, ui: UI });
      const isTerminal = begin.includes("terminal");
      if (isTerminal)
        await a.configure(`{ terminal = { command = { "sh", "-c", "cat" } }, auto_start = false }`);
      await a.nvim.command("set noautoread");
      const path = a.file("main.txt", "one\n");
      const buf = await a.edit(path);
      if (!isTerminal) await a.attach();
      await a.nvim.lua(`
        PORT, HOOK = require("port"), { session = "s", installation = "i", source = "startup" }
        CALL = function(...) assert(not PORT.dispatcher.call(...).error) end`);
      await a.nvim.lua(RECORD_WATCHES);
      writeFileSync(path, "two\n");
      await watches(a, 0);
      expect(await line(a, buf)).toBe("one");
      await a.nvim.lua(begin);
      writeFileSync(path, "three\n");
      await shows(a, buf, "three");
      await watches(a, 1);
      await a.nvim.lua(end);
      await watches(a, 0);
      writeFileSync(path, "four\n");
      expect(await line(a, buf)).toBe("three");
    });
  }

  nightly.test("looks at unwatched folders on focus, entry, hook and sync", async () => {
    await using a = await start();
    const count = 204;
    for (let i = 0; i < count; i++) a.file(`${i}/main.txt`, "one\n");
    await a.nvim.lua(
      `BUFS = {}
       for i = 0, ... - 1 do
         BUFS[i + 1] = vim.fn.bufadd(i .. "/main.txt")
         vim.fn.bufload(BUFS[i + 1])
       end`,
      count,
    );
    await a.attach();
    await clients(a, [{ id: 1, name: "claude-code" }]);
    const texts = () =>
      a.nvim.lua<string[]>(
        "return vim.tbl_map(function(buf) return vim.fn.getbufline(buf, 1)[1] end, BUFS)",
      );
    // The limit of watched folders is reached.
    const others = [200, 201, 202, 203];
    const moments = [
      () => a.nvim.command("doautocmd FocusGained"),
      () => a.nvim.command("new"),
      () => a.call("session_start", { session: "s", installation: "i", source: "startup" }),
      () => a.call("sync"),
    ];
    for (const [round, moment] of moments.entries()) {
      const text = `round ${round}`;
      for (const i of others) a.file(`${i}/main.txt`, `${text}\n`);
      await moment();
      await eventually("all", async () => {
        const shown = await texts();
        expect(others.map((i) => shown[i])).toEqual(others.map(() => text));
      });
    }
  });

  test("keeps the text while a command is typed", async () => {
    await using a = await withClient();
    const buf = await a.edit(a.file("main.txt", "one\n"));
    await a.holdClock();
    await a.nvim.type(":%s/one/x");
    a.file("main.tmp", "two\n");
    renameSync(a.path("main.tmp"), a.path("main.txt"));
    await a.nvim.until("it waits", "return WAITING() > 0");
    await a.advance(1_000);
    expect(await line(a, buf)).toBe("one");
    await a.nvim.type("<Esc>");
    await eventually("the text", async () => {
      await a.advance(1_000);
      expect(await line(a, buf)).toBe("two");
    });
    await noQuestion(a);
  });
});
