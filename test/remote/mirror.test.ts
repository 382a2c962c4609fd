import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { EditorState } from "../../src/editor/state";
import type { Transport } from "../../src/jsonrpc/transport";
import { Log } from "../../src/lib/log";
import type { Channel } from "../../src/remote/channels";
import type { FileRequest } from "../../src/remote/files";
import { runHelper } from "../../src/remote/helpers";
import { border } from "../../src/remote/ide";
import type { Link } from "../../src/remote/link";
import { Mirror } from "../../src/remote/mirror";
import { PathMap } from "../../src/remote/path-map";
import { Remote } from "../../src/remote/remote";
import { LIMITS } from "../../src/remote/wire";
import type { TestClient } from "../support/client";
import { eventually } from "../support/eventually";
import { NEOVIMS, nightly, temporaryFolder } from "../support/neovim";
import { outcomeOf } from "../support/outcome";
import { Box, THERE } from "./box";

const ODD = Buffer.from("\xef\xbb\xbfone\r\ntwo \xff\xfe\r\nlast", "latin1");

describe.each(NEOVIMS)("files that are in the remote alone, in $name", (version) => {
  let box: Box;
  let cli: TestClient;
  beforeAll(async () => {
    box = await Box.start({}, version);
    cli = await box.client();
  });
  afterAll(async () => {
    cli?.close();
    await box?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    box.write("a.txt", "old\nkept\n");
    await box.neovim.lua(`
      SAID = {}
      vim.cmd("silent! only! | enew! | messages clear")
      for _, buf in ipairs(vim.api.nvim_list_bufs()) do
        if vim.api.nvim_buf_get_name(buf):find("/mirrors/") then
          vim.cmd.bwipeout({ buf, bang = true })
        end
      end`);
  });

  const propose = (name: string, contents: string) =>
    cli.texts("openDiff", {
      old_file_path: `${THERE}/${name}`,
      new_file_path: `${THERE}/${name}`,
      new_file_contents: contents,
      tab_name: name,
    });
  const shown = (name: string) =>
    eventually("the diff", () =>
      box.neovim.lua<boolean>('return require("port").diff_shown(...)', box.mirror(name)),
    );
  const open = (name: string) => cli.texts("openFile", { filePath: `${THERE}/${name}` });
  /** What `:w` says. */
  const save = (command = "write") =>
    box.neovim.lua<string>(
      `local ok, problem = pcall(vim.cmd, (...))
       return ok and "" or problem`,
      command,
    );
  /** A command that writes, while the relay stands still. */
  const waitsWith = async (command: string) => {
    const relay = await box.relay();
    process.kill(relay, "SIGSTOP");
    const said = save(command);
    await eventually("the message", async () =>
      (await messages()).includes("CTRL-C ends the wait"),
    );
    return { relay, said };
  };
  const copied = (name: string, text: string) =>
    eventually("the copy", () => readFileSync(box.mirror(name), "utf8") === text);
  const messages = () => box.neovim.lua<string>("return vim.fn.execute('messages')");
  const isModified = () => box.neovim.lua<boolean>("return vim.bo.modified");

  test("no folder of here has the project's path", () => {
    expect(existsSync(THERE)).toBe(false);
  });

  test("messages name a file as it is there", async () => {
    const title = 'return require("port").paths.title(...)';
    expect(await box.neovim.lua<string>(title, box.mirror("a b.txt"))).toBe(`box:${THERE}/a b.txt`);
  });

  test("a proposal is shown with the text there; accepted, the client writes and the buffer follows", async () => {
    await open("a.txt");
    const accepted = propose("a.txt", "new\nkept\n");
    await shown("a.txt");
    const bars = await box.neovim.lua<string>(`return table.concat(vim.tbl_map(function(win)
      return vim.wo[win].winbar
    end, vim.api.nvim_tabpage_list_wins(0)))`);
    expect(bars).toContain("box");
    expect(bars).not.toContain("outside of the workspace");
    expect(readFileSync(box.mirror("a.txt"), "utf8")).toBe("old\nkept\n");
    await box.neovim.type("<CR>");
    expect(await accepted).toEqual(["FILE_SAVED", "new\nkept\n"]);
    expect(box.read("a.txt")).toBe("old\nkept\n");
    box.write("a.txt", "new\nkept\n");
    await eventually("the buffer", async () => (await box.text("a.txt")) === "new\nkept");
  });

  test("rejected, and accepted with an edit of the user's", async () => {
    const rejected = propose("a.txt", "new\nkept\n");
    await shown("a.txt");
    await box.neovim.type("q");
    expect((await rejected)[0]).toBe("DIFF_REJECTED");
    const accepted = propose("a.txt", "new\nkept\n");
    await shown("a.txt");
    await box.neovim.type("ccmine<Esc><CR>");
    expect(await accepted).toEqual(["FILE_SAVED", "mine\nkept\n"]);
  });

  test("a new file in a new folder", async () => {
    const accepted = propose("new/b.txt", "text\n");
    await shown("new/b.txt");
    await box.neovim.type("<CR>");
    expect(await accepted).toEqual(["FILE_SAVED", "text\n"]);
    expect(existsSync(join(box.project, "new"))).toBe(false);
  });

  test("what follows a proposal does not overtake it while its file comes", async () => {
    const answer = propose("a.txt", "new\nkept\n");
    await cli.call("close_tab", { tab_name: "a.txt" });
    expect((await answer)[0]).toBe("DIFF_REJECTED");
  });

  test("any bytes are the same on both sides, opened and written", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        box.write("bytes.bin", bytes);
        await box.neovim.lua(
          `vim.cmd.edit({ (...), bang = true, magic = { file = false } })
           require("port").server_requests.request("remote/bring", { path = (...) }, function() DONE = true end)
           vim.wait(5000, function() return DONE end, 5)
           DONE = nil`,
          box.mirror("bytes.bin"),
        );
        expect(readFileSync(box.mirror("bytes.bin")).equals(bytes)).toBe(true);
      }),
      { numRuns: 30 },
    );
    box.write("odd.txt", ODD);
    await open("odd.txt");
    expect(await save("set nofixendofline | 1substitute/one/ONE/ | write")).toBe("");
    const wanted = ODD.toString("latin1").replace("one", "ONE");
    expect(box.read("odd.txt")).toBe(wanted);
    expect(readFileSync(box.mirror("odd.txt"), "latin1")).toBe(wanted);
  });

  test(":w writes there, with the mode of there, and autocommands run", async () => {
    chmodSync(join(box.project, "a.txt"), 0o755);
    await box.neovim.lua(
      `HEARD = {}
       vim.api.nvim_create_autocmd({ "BufWritePre", "BufWritePost" }, { callback = function(event)
         table.insert(HEARD, event.event)
         if event.event == "BufWritePre" then vim.fn.setline(2, "formatted") end
       end, group = vim.api.nvim_create_augroup("heard", {}) })`,
    );
    await open("a.txt");
    await box.neovim.command("call setline(1, 'mine')");
    expect(await save()).toBe("");
    await box.neovim.command("augroup heard | autocmd! | augroup END");
    expect(await box.neovim.lua("return HEARD")).toEqual(["BufWritePre", "BufWritePost"]);
    expect(box.read("a.txt")).toBe("mine\nformatted\n");
    expect(statSync(join(box.project, "a.txt")).mode & 0o777).toBe(0o755);
    expect(await isModified()).toBe(false);
    await box.neovim.command("call setline(1, 'again') | write");
    expect(box.read("a.txt")).toBe("again\nformatted\n");
    // As far as Neovim knows the file, it is the one that was read.
    await box.neovim.command("checktime");
    expect(await box.neovim.lua("return SAID")).toEqual([]);
  });

  test(":edit brings a file, :wq makes one, and a part of a buffer is not written", async () => {
    const name = "a b/[c] é%#.txt";
    box.write(name, "there\n");
    await box.neovim.lua("vim.cmd.edit({ (...), magic = { file = false } })", box.mirror(name));
    expect(await box.text(name)).toBe("there");
    await box.neovim.command("call setline(1, 'mine') | write");
    expect(box.read(name)).toBe("mine\n");
    await box.neovim.command(`split ${box.mirror("made/d.txt")}`);
    await box.neovim.command("call setline(1, 'made') | wq");
    expect(box.read("made/d.txt")).toBe("made\n");
    expect(await save(`1write! ${box.mirror("a.txt")}`)).toContain("only a whole buffer");
    expect(box.read("a.txt")).toBe("old\nkept\n");
  });

  test("a plugin that loads a buffer without a window gets the file, too", async () => {
    box.write("hidden.txt", "there\n");
    const lines = await box.neovim.lua(
      `local buf = vim.fn.bufadd((...))
       vim.fn.bufload(buf)
       return vim.api.nvim_buf_get_lines(buf, 0, -1, false)`,
      box.mirror("hidden.txt"),
    );
    expect(lines).toEqual(["there"]);
  });

  test("changed there: an error, nothing is lost on either side; :w! overwrites", async () => {
    await open("a.txt");
    await box.neovim.command("call setline(1, 'mine')");
    box.write("a.txt", "theirs\n");
    expect(await save()).toContain("it has changed there; :w! overwrites it, :e! loads it");
    expect(await isModified()).toBe(true);
    expect(await box.text("a.txt")).toBe("mine\nkept");
    expect(box.read("a.txt")).toBe("theirs\n");
    await eventually("the copy", () => readFileSync(box.mirror("a.txt"), "utf8") === "theirs\n");
    expect(await save()).toContain("it has changed there");
    expect(await save("write!")).toBe("");
    expect(box.read("a.txt")).toBe("mine\nkept\n");
  });

  test("a change there that Neovim has noticed, and not read, is not replaced without a !", async () => {
    await open("a.txt");
    await box.neovim.command("call setline(1, 'mine')");
    box.write("a.txt", "theirs\n");
    await copied("a.txt", "theirs\n");
    await box.neovim.command("silent! checktime");
    expect(await save()).toContain("it has changed there");
    expect(box.read("a.txt")).toBe("theirs\n");
    expect(await box.text("a.txt")).toBe("mine\nkept");
  });

  test(":w leaves no buffer and no other alternate file, and says what it has written; undo leads to 'modified'", async () => {
    await open("a.txt");
    await box.neovim.command(`edit ${box.mirror("b.txt")}`);
    await box.neovim.command(`edit ${box.mirror("a.txt")} | call setline(1, 'mine')`);
    const buffers = () => box.neovim.lua("return { vim.fn.bufnr('$'), vim.fn.bufname('#') }");
    const before = await buffers();
    const said = await box.neovim.lua<string>("return vim.fn.execute('write')");
    expect(said).toContain('a.txt" 2L, 10B');
    expect(said).not.toContain("New");
    expect(await buffers()).toEqual(before);
    await box.neovim.command("undo");
    expect(await isModified()).toBe(true);
    await box.neovim.command("redo");
    expect(await isModified()).toBe(false);
    expect(await box.neovim.lua("return vim.fn.undotree().save_last")).toBe(1);
  });

  nightly.test(
    "what an event does while :w waits: another current buffer, another text",
    async () => {
      await open("a.txt");
      const slowly = async (event: string, text: string) => {
        await box.neovim.command("messages clear");
        const { relay, said } = await waitsWith(
          `call setline(1, '${text}') | call timer_start(1, {-> execute('${event}')}) | write`,
        );
        process.kill(relay, "SIGCONT");
        return said;
      };
      expect(await slowly("new", "mine")).toBe("");
      expect(box.read("a.txt")).toBe("mine\nkept\n");
      await copied("a.txt", "mine\nkept\n");
      await box.neovim.command("silent! only! | buffer a.txt");
      expect(await isModified()).toBe(false);
      expect(await slowly('call setline(2, "later")', "again")).toBe("");
      expect(box.read("a.txt")).toBe("again\nkept\n");
      expect(await isModified()).toBe(true);
      expect(await save()).toBe("");
      expect(box.read("a.txt")).toBe("again\nlater\n");
    },
  );

  test("CTRL-C ends the wait; a text that was written all the same is no other one", async () => {
    await open("a.txt");
    const { relay, said } = await waitsWith("call setline(1, 'mine') | write");
    await box.neovim.type("<C-c>");
    expect(await said).toContain("it may still be done");
    process.kill(relay, "SIGCONT");
    await copied("a.txt", "mine\nkept\n");
    expect(box.read("a.txt")).toBe("mine\nkept\n");
    expect(await save()).toBe("");
    expect(await isModified()).toBe(false);
  });

  test("what changes while :w waits is noticed of other files, and not of the file itself", async () => {
    const other = join(box.neovim.cwd, "other.txt");
    writeFileSync(other, "old\n");
    await box.neovim.lua("vim.cmd.edit(...) vim.fn.setline(1, 'mine')", other);
    await open("a.txt");
    const { relay, said } = await waitsWith("call setline(1, 'mine') | write");
    for (const path of [box.mirror("a.txt"), other]) writeFileSync(path, "mine\nkept\n");
    const notes = () => box.neovim.lua<string>("return table.concat(SAID)");
    await eventually("a word", async () => (await notes()).includes("other.txt changed on disk"));
    process.kill(relay, "SIGCONT");
    expect(await said).toBe("");
    expect(await notes()).not.toContain("a.txt");
    expect(box.read("a.txt")).toBe("mine\nkept\n");
    await box.neovim.lua("vim.cmd.bwipeout({ vim.fn.bufnr(...), bang = true })", other);
  });

  test("another name: :saveas and :file write what is not there, and nothing that is", async () => {
    for (const name of ["fresh.txt", "fresh2.txt"])
      rmSync(join(box.project, name), { force: true });
    await open("a.txt");
    expect(await save(`saveas ${box.mirror("fresh.txt")}`)).toBe("");
    expect(box.read("fresh.txt")).toBe("old\nkept\n");
    expect(await save("call setline(1, 'more') | write")).toBe("");
    expect(await save(`file ${box.mirror("fresh2.txt")} | write`)).toBe("");
    expect(box.read("fresh2.txt")).toBe("more\nkept\n");
    box.write("there.txt", "theirs\n");
    expect(await save(`saveas ${box.mirror("there.txt")}`)).toContain("there is a file already");
    expect(box.read("there.txt")).toBe("theirs\n");
    // To compare with.
    await copied("there.txt", "theirs\n");
    expect(await save("write!")).toBe("");
  });

  test("characters that cannot be converted: :w says so of the file, and the buffer stays modified", async () => {
    await open("a.txt");
    await box.neovim.command("set fileencoding=latin1 | call setline(1, '€')");
    expect((await box.neovim.lua<string>("return vim.fn.execute('write')")).trim()).toMatch(
      /^[<"].*a\.txt" +CONVERSION ERROR in line 1; *2L, 9B written$/,
    );
    expect(await isModified()).toBe(true);
    expect(box.read("a.txt")).toBe("\xbf\nkept\n");
  });

  test("what is written here alone stays, and is said; :w writes it there", async () => {
    await open("a.txt");
    await box.neovim.command("call setline(1, 'formatted') | noautocmd write");
    box.write("a.txt", "theirs\n");
    const said = () => box.neovim.lua<string[]>("return SAID");
    await eventually("a message", async () => (await said()).join().includes("but not by :w"));
    expect(readFileSync(box.mirror("a.txt"), "utf8")).toBe("formatted\nkept\n");
    expect(await box.text("a.txt")).toBe("formatted\nkept");
    expect(await save()).toContain("it has changed there");
    box.write("a.txt", "old\nkept\n");
    expect(await save()).toBe("");
    expect(box.read("a.txt")).toBe("formatted\nkept\n");
    box.write("a.txt", "theirs\n");
    await copied("a.txt", "theirs\n");
  });

  test("by a symlink to such a folder, and to such a file, :w writes there", async () => {
    await open("a.txt");
    const [folder, file] = ["folder", "file"].map((name) => join(box.neovim.home, name));
    symlinkSync(box.mirror("."), String(folder));
    symlinkSync(box.mirror("a.txt"), String(file));
    for (const name of [`${folder}/a.txt`, String(file)]) {
      await box.neovim.command("bwipeout!");
      expect(await save(`edit ${name} | call setline(1, '${name}') | write`)).toBe("");
      expect(box.read("a.txt")).toBe(`${name}\nkept\n`);
    }
    await box.neovim.command("bwipeout!");
  });

  nightly.test(
    "the executable starts again: :w works, open files follow, and what was written here alone stays",
    async () => {
      for (const name of ["a.txt", "b.txt", "c.txt"]) {
        box.write(name, "old\n");
        await open(name);
      }
      await box.neovim.command("call setline(1, 'formatted') | noautocmd write");
      const server = () => box.neovim.lua<number>(`return require("port").server.process.pid`);
      const before = await server();
      process.kill(before, "SIGKILL");
      await eventually("another one", async () => ![0, before].includes(await server()));
      box.write("b.txt", "theirs\n");
      await box.up();
      await copied("b.txt", "theirs\n");
      await eventually("the buffer", async () => (await box.text("b.txt")) === "theirs");
      expect(readFileSync(box.mirror("c.txt"), "utf8")).toBe("formatted\n");
      expect(await save("buffer a.txt | call setline(1, 'mine') | write")).toBe("");
      expect(await save("buffer c.txt | write")).toBe("");
      expect([box.read("a.txt"), box.read("c.txt")]).toEqual(["mine\n", "formatted\n"]);
      cli.close();
      cli = await box.client();
    },
  );

  test("what cannot come is said: too big, no file, led out by a symlink", async () => {
    writeFileSync(join(box.project, "big"), Buffer.alloc(LIMITS.fileBytes));
    await box.neovim.lua(
      `require("port").server_requests.request("remote/bring", { path = (...) }, function() DONE = true end)
       vim.wait(20000, function() return DONE end, 5)`,
      box.mirror("big"),
    );
    expect(statSync(box.mirror("big")).size).toBe(LIMITS.fileBytes);
    writeFileSync(join(box.project, "big"), Buffer.alloc(LIMITS.fileBytes + 1));
    rmSync(join(box.project, "out"), { force: true });
    symlinkSync("/etc/passwd", join(box.project, "out"));
    const cases = { big: "it has 16777217 bytes", ".": "not a regular file", out: "a symlink" };
    for (const [name, why] of Object.entries(cases)) {
      expect(await outcomeOf(open(name))).toThrow(why);
      expect(await outcomeOf(propose(name, "x"))).toThrow(why);
    }
    expect(existsSync(box.mirror("out"))).toBe(false);
    rmSync(join(box.project, "big"));
  });

  test("a folder there where a file was, and a file where a folder was", async () => {
    box.write("kind", "file\n");
    await open("kind");
    rmSync(join(box.project, "kind"));
    box.write("kind/x.txt", "inside\n");
    await open("kind/x.txt");
    expect(await box.text("kind/x.txt")).toBe("inside");
    rmSync(join(box.project, "kind"), { recursive: true });
    await eventually("no folder", () => !existsSync(box.mirror("kind")));
    box.write("kind", "again\n");
    await open("kind");
    expect(readFileSync(box.mirror("kind"), "utf8")).toBe("again\n");
    rmSync(join(box.project, "kind"));
    mkdirSync(join(box.project, "kind"));
    await eventually("no file", () => !existsSync(box.mirror("kind")));
  });

  test("a relay that is killed before and while it writes: the whole text or the one before, and :w says which", async () => {
    const lines = (word: string) => `${word} of a long text\n`.repeat(20_000);
    box.write("long.txt", lines("old"));
    await open("long.txt");
    for (const phase of ["before", "while"]) {
      const before = box.read("long.txt");
      await box.neovim.lua(
        "vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(vim.trim((...)), '\\n'))",
        lines(phase),
      );
      const relay = await box.relay();
      if (phase === "before") process.kill(relay, "SIGSTOP");
      const said = save();
      if (phase === "while") await Bun.sleep(30);
      process.kill(relay, "SIGKILL");
      const isSaved = (await said) === "";
      expect(await isModified()).toBe(!isSaved);
      // What it has written it may not have said any more.
      const mayBe = isSaved
        ? [lines(phase)]
        : [before, ...(phase === "while" ? [lines(phase)] : [])];
      expect(mayBe.includes(box.read("long.txt"))).toBe(true);
      await eventually("the next relay", async () => ![0, relay].includes(await box.relay()));
      await box.up();
      expect(await save("write!")).toBe("");
      expect(box.read("long.txt") === lines(phase)).toBe(true);
    }
    cli.close();
    cli = await box.client();
  }, 60_000);

  test("without the connection :w fails, and works again after it", async () => {
    await open("a.txt");
    await box.neovim.command("call setline(1, 'mine')");
    process.kill(await box.relay(), "SIGKILL");
    await eventually("the end", async () => !(await box.status()).includes("box: up"));
    const said = await save();
    expect(said).toContain("a.txt was not written: the connection to box is down");
    expect(await isModified()).toBe(true);
    expect(box.read("a.txt")).toBe("old\nkept\n");
    await box.neovim.lua(`require("port").remote.RETRY_MS = 0`);
    await box.up();
    expect(await save()).toBe("");
    expect(box.read("a.txt")).toBe("mine\nkept\n");
    const lost = "is not connected any more; :1Claude! --continue";
    await eventually("the session that is lost", () =>
      box.neovim.lua<boolean>("return table.concat(SAID):find((...), 1, true) ~= nil", lost),
    );
    cli.close();
    cli = await box.client();
  });
});

/** In place of the 2,000 that a remote may send: two thousand files take ten seconds. */
function fewFiles(): Disposable {
  const limits: { files: number } = LIMITS;
  const { files } = limits;
  limits.files = 50;
  return {
    [Symbol.dispose]() {
      limits.files = files;
    },
  };
}

describe("a relay of which nothing is believed", () => {
  const folder = temporaryFolder();
  const root = join(folder, "mirror");
  mkdirSync(root);
  const records = temporaryFolder();
  afterAll(() => {
    for (const one of [folder, records]) rmSync(one, { recursive: true });
  });

  /** A mirror whose relay answers each request by `answer`; `say` is what it says of its own. */
  function mirrorOf(answer: (asked: FileRequest) => object | undefined) {
    const channel: Channel = {
      kind: "files",
      send(text) {
        const said = answer(JSON.parse(text));
        if (said) queueMicrotask(() => channel.onMessage(JSON.stringify(said)));
      },
      close() {},
      onMessage: () => {},
      onClose: () => {},
    };
    const map = new PathMap([{ remote: THERE, host: root }], "posix");
    const log = new Log({ file: join(folder, "log") });
    const mirror = new Mirror("box", [root], map, log, records);
    mirror.connect({ open: () => channel } as unknown as Link, []);
    return { mirror, say: (said: unknown) => channel.onMessage(JSON.stringify(said)), channel };
  }
  const bring = (mirror: Mirror, paths: string[]) =>
    mirror.bring(paths) ?? Promise.reject(new Error("none"));
  const bytes = Buffer.from("theirs").toString("base64");
  const names = () => readdirSync(folder, { recursive: true }).filter((name) => name !== "log");

  test("sends only what was asked for, and to its own place", async () => {
    const { mirror, say } = mirrorOf(({ id }) => ({ id, path: "/etc/passwd", bytes }));
    const others = [
      "/etc/passwd",
      `${THERE}/../../x`,
      `${THERE}/never`,
      join(folder, "x"),
      "",
      "\0",
    ];
    for (const path of others) say({ path, bytes });
    for (const said of [null, 7, {}, { id: 9, path: "x", bytes }, { path: `${THERE}/a`, bytes: 7 }])
      say(said);
    expect(names()).toEqual(["mirror"]);
    await mirror.bring([join(root, "a")]);
    expect(names()).toEqual(["mirror", "mirror/a"]);
    for (const path of others) say({ path, bytes });
    expect(names()).toEqual(["mirror", "mirror/a"]);
    expect(readFileSync(join(root, "a"), "utf8")).toBe("theirs");
    say({ path: `${THERE}/a` });
    expect(names()).toEqual(["mirror"]);
  });

  test("writes by no symlink that is in its mirror, and asks for no path of here", async () => {
    const asked: FileRequest[] = [];
    const { mirror } = mirrorOf((one) => {
      asked.push(one);
      return { id: one.id, path: one.path, bytes };
    });
    symlinkSync(folder, join(root, "out"));
    expect(
      await outcomeOf(bring(mirror, [join(root, "out/x")]) ?? Promise.reject(new Error("none"))),
    ).toThrow("none");
    expect(mirror.bring(["/etc/passwd", join(root, "../x")])).toBeUndefined();
    expect(await outcomeOf(mirror.write("/etc/passwd", Buffer.from(""), ""))).toThrow();
    expect(asked).toEqual([]);
    rmSync(join(root, "out"));
  });

  /** A client of the border; what is sent to it, and what passes. */
  function clientOf(mirror: Mirror) {
    const map = new PathMap([{ remote: THERE, host: root }], "posix");
    const remote = new Remote(
      "box",
      () => map,
      () => new EditorState(),
      mirror,
    );
    const [sent, passed]: [string[], string[]] = [[], []];
    const outside: Transport = {
      send: (text) => sent.push(text),
      onMessage: () => {},
      onClose: () => {},
    };
    const inner = border(outside, remote);
    inner.onMessage = (text) => passed.push(JSON.parse(text).method);
    let id = 0;
    const call = (name: string, args: object) =>
      outside.onMessage(
        JSON.stringify({
          ...{ jsonrpc: "2.0", id: ++id, method: "tools/call" },
          params: { name, arguments: args },
        }),
      );
    return { remote, sent, passed, outside, call };
  }
  const diffOf = (name: string) => ({
    old_file_path: `${THERE}/${name}`,
    new_file_path: `${THERE}/${name}`,
    new_file_contents: "x",
    tab_name: name,
  });

  test("is asked for no file that the user will not see", async () => {
    const asked: string[] = [];
    const { mirror } = mirrorOf(({ id, path }) => {
      asked.push(path);
      return { id, path, bytes };
    });
    const wrong = clientOf(mirror);
    wrong.call("openDiff", { ...diffOf("a"), new_file_contents: 7 });
    wrong.call("openDiff", { ...diffOf("a"), tab_name: 7 });
    wrong.call("openFile", { filePath: `${THERE}/a`, startText: 7 });
    wrong.call("openFile", { filePath: `${THERE}/a`, makeFrontmost: false });
    wrong.call("openFile", { filePath: [`${THERE}/a`] });
    expect(wrong.passed.length).toBe(4);
    expect(asked).toEqual([]);
    const { remote, sent, passed, call } = clientOf(mirror);
    call("openDiff", { ...diffOf("b"), old_file_path: `${THERE}/a` });
    for (let i = 0; i < 7; i++) call("openDiff", diffOf("b"));
    const before = sent.length;
    call("openDiff", diffOf("a"));
    await eventually("the refusal", () => sent.length > before);
    expect(sent.at(-1)).toContain("wait for the user already");
    expect(passed.length).toBe(8);
    expect(remote.waiting).toBe(8);
    const input = JSON.stringify({ cwd: THERE, tool_input: { file_path: `${THERE}/a` } });
    const closed: Channel = { ...channelOf(), kind: "hook" };
    const ended = runHelper(closed, opening("post-tool-use", input), remote);
    closed.onClose();
    await ended;
    expect(new Set(asked)).toEqual(new Set([`${THERE}/b`]));
    rmSync(join(root, "b"));
  });

  test("a proposal whose file cannot come waits for nobody", async () => {
    const { mirror } = mirrorOf(({ id, path }) => ({ id, path, problem: "none" }));
    const { remote, sent, call } = clientOf(mirror);
    for (let i = 0; i < 20; i++) call("openDiff", diffOf("a"));
    await eventually("the answers", () => sent.length === 20);
    expect(sent.join()).not.toContain("wait for the user already");
    expect(remote.waiting).toBe(0);
  });

  const channelOf = (): Channel => ({
    ...{ kind: "hook", send() {}, close() {}, onMessage() {}, onClose() {} },
  });
  const opening = (event: string, input: string) =>
    JSON.stringify({ args: [event], cwd: THERE, env: {}, input });

  test("runs no more hooks than may run, while their file does not come; none that nobody waits for", async () => {
    const { mirror, channel } = mirrorOf(({ id, path }) =>
      id === 1 ? { id, path, bytes } : undefined,
    );
    await mirror.bring([join(root, "a")]);
    const { remote } = clientOf(mirror);
    const input = JSON.stringify({ cwd: THERE, tool_input: { file_path: `${THERE}/a` } });
    let refused = 0;
    const run = () => {
      const hook = { ...channelOf(), close: () => refused++ };
      const ended = runHelper(hook, opening("session-start", input), remote);
      hook.onClose();
      return ended;
    };
    const all = Array.from({ length: 3 * LIMITS.channels }, run);
    expect(remote.running).toBe(2 * LIMITS.channels);
    expect(refused).toBe(LIMITS.channels);
    for (let id = 2; id < 99; id++) channel.onMessage(JSON.stringify({ id, path: "", bytes }));
    await Promise.all(all);
    expect(remote.running).toBe(0);
    rmSync(join(root, "a"));
  });

  test("brings nothing that makes a folder a repository, and it is not written there", async () => {
    const asked: FileRequest[] = [];
    const { mirror } = mirrorOf((one) => {
      asked.push(one);
      return { id: one.id, path: one.path, bytes };
    });
    const names = [".git", ".git/config", "sub/.GIT/hooks/x", ".g\u200cit/config", "x/HEAD"];
    for (const name of [...names, ".hg/hgrc", ".svn/x", ".jj/x"]) {
      expect(await outcomeOf(bring(mirror, [join(root, name)]))).toThrow("of a repository");
      expect(await outcomeOf(mirror.write(join(root, name), Buffer.from(""), ""))).toThrow(
        "of a repository",
      );
    }
    expect(asked).toEqual([]);
    for (const name of [".gitignore", ".github/x", "header", "HEAD.md"])
      await mirror.bring([join(root, name)]);
    expect(asked.length).toBe(4);
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  });

  test("questions about files that are not there take no place of others", async () => {
    using _ = fewFiles();
    let isThere = false;
    const { mirror } = mirrorOf(({ id, path }) => ({ id, path, ...(isThere && { bytes }) }));
    for (let i = 0; i <= LIMITS.files; i++) await mirror.bring([join(root, `${i}`)]);
    isThere = true;
    await mirror.bring([join(root, "there")]);
    for (let i = 1; i < LIMITS.files; i++) await mirror.bring([join(root, `${i}`)]);
    expect(await outcomeOf(bring(mirror, [join(root, "more")]))).toThrow("no more than");
    expect(await outcomeOf(mirror.write(join(root, "more"), Buffer.from(""), ""))).toThrow(
      "no more than",
    );
    rmSync(root, { recursive: true });
    mkdirSync(root);
  });

  test("two texts of one size are two versions, although the clock stands still", async () => {
    const { mirror } = mirrorOf(({ id, path }) => ({ id, path, bytes: btoa(String(id)) }));
    const path = join(root, "a");
    await mirror.bring([path]);
    const later = new Date(Date.now() + 60_000);
    utimesSync(path, later, later);
    await mirror.bring([path]);
    expect(readFileSync(path, "utf8")).toBe("2");
    expect(statSync(path).mtimeMs).toBeGreaterThan(later.getTime());
    rmSync(path);
  });

  test("sends no more than so much, and its words have no control characters", async () => {
    const big = Buffer.alloc(LIMITS.fileBytes + 1).toString("base64");
    const { mirror } = mirrorOf(({ id, path }) =>
      path.endsWith("big") ? { id, path, bytes: big } : { id, path, problem: "\x1b[31mred\nline" },
    );
    expect(await outcomeOf(bring(mirror, [join(root, "big")]))).toThrow("too big");
    const said = await outcomeOf(bring(mirror, [join(root, "b")]));
    expect(said).toThrow(/^box: [^\p{Cc}]*$/u);
    expect(names()).toEqual(["mirror"]);
  });

  test("sends no more than so many files; those that are not there make place", async () => {
    using _ = fewFiles();
    const { mirror } = mirrorOf(({ id, path }) => ({
      ...{ id, path },
      ...(!path.endsWith("missing") && { bytes: "" }),
    }));
    const all = (suffix: string) =>
      mirror.bring(Array.from({ length: LIMITS.files }, (_, i) => join(root, `${i}${suffix}`)));
    for (const suffix of [".missing", ".txt"]) await all(suffix);
    expect(await outcomeOf(bring(mirror, [join(root, "more")]))).toThrow("no more than");
    await bring(mirror, [join(root, "more.missing")]);
    expect(names().length).toBe(1 + LIMITS.files);
    for (const name of readdirSync(root)) rmSync(join(root, name));
  });

  test("says that it has written: no other text is taken for the one there", async () => {
    const { mirror } = mirrorOf(({ id, path }) => ({ id, path, bytes }));
    await mirror.write(join(root, "mine"), Buffer.from("mine"), "");
    expect(readFileSync(join(root, "mine"), "utf8")).toBe("mine");
  });

  test("a client that sends on and on while its file does not come: refused; what came before is in order", async () => {
    const { mirror, channel } = mirrorOf(() => undefined);
    const { sent, passed, outside, call } = clientOf(mirror);
    call("openFile", { filePath: `${THERE}/a` });
    outside.onMessage(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" }));
    const long = JSON.stringify({ jsonrpc: "2.0", id: 3, method: "x".repeat(LIMITS.lineBytes) });
    outside.onMessage(long);
    expect(passed).toEqual([]);
    expect(sent.join()).toContain("Too many messages");
    channel.onMessage(JSON.stringify({ id: 1, path: "", bytes }));
    await eventually("both", () => passed.length === 2);
    expect(passed).toEqual(["tools/call", "ping"]);
  });
});
