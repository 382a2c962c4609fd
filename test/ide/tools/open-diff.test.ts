import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import {
  claims,
  eventually,
  lacks,
  needs,
  onEachNeovim,
  outcomeOf,
  TestClient,
  TestNeovim,
} from "#test";
import { join } from "../../../src/lib/platform";

/** openDiff over the socket; what happens in the windows is tested with the editor itself. */
onEachNeovim(
  (session, version) => {
    let cli: TestClient;
    beforeEach(async () => {
      await session.reset();
      cli = await TestClient.open(session.lock, "claude-code");
    });
    afterEach(() => cli.close());

    const open = (client: TestClient, path: string, contents: string, name = `diff of ${path}`) =>
      client.openDiff(path, contents, name);
    const shown = () => session.neovim.lua<boolean>('return require("port").diff_shown()');
    const untilShown = () => eventually("the diff", shown);
    const untilGone = () =>
      session.neovim.until("no diff", 'return require("port").diff_state() == "gone"');

    /** In the proposed side, in normal mode. */
    async function press(keys: string): Promise<void> {
      await untilShown();
      await session.neovim.lua('vim.api.nvim_set_current_win(require("port").diff_window())');
      await session.neovim.type(keys);
    }
    /** The edits of a diff that could not be written are in a buffer. */
    const keepsEdits = (first: string) =>
      session.neovim.until(
        "the edits",
        `return vim.iter(vim.api.nvim_list_bufs()):any(function(buf)
            return vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1] == "${first}" and vim.bo[buf].modified
          end)`,
      );

    test("keeps the user's edits of a file that cannot be written in a buffer", async () => {
      using other = await TestClient.open(session.lock);
      writeFileSync(join(session.neovim.cwd, "file"), "");
      const path = join(session.neovim.cwd, "file", "below");
      const answer = open(other, path, "proposed\n");
      answer.catch(() => {});
      await press("Omine<Esc><CR>");
      const outcome = await outcomeOf(answer);
      expect(outcome).toThrow(/Accepted, but .* could not be written/);
      expect(outcome).toThrow(path);
      await keepsEdits("mine");
      await session.neovim.plays("<Ignore>  says writing the file failed");
    });

    // The property in test/fuzz/texts.test.ts has all line ends, with and without a byte order mark.
    const proposals: [string, string][] = [
      ["nothing", ""],
      ["NUL and control characters", "a\0b\u0001\u001b[0m\n"],
      ["wide, combining and astral characters", "日本 e\u0301 😀👨‍👩‍👧\n"],
      ["a lone surrogate", "a\ud800b\n"],
      ["a long line", `${"x".repeat(100_000)}\n`],
    ];
    test.each(proposals)("gives a proposal with %s back to the byte", async (_name, text) => {
      const path = session.write("bytes.txt", "something else\r\n");
      const answer = open(cli, path, text);
      await press("<CR>");
      expect(await answer).toEqual(["FILE_SAVED", text]);
      await untilGone();
      expect(readFileSync(path, "utf8")).toBe("something else\r\n");
    });

    describe("for a client that is not the CLI we write the file", () => {
      test("with the final text", async () => {
        const path = await session.open("written.txt", "old\n");
        const answer = open(session.client, path, "new\r\n");
        await press("ggA!<Esc><CR>");
        expect(await answer).toEqual(["FILE_SAVED", "new!\r\n"]);
        expect(readFileSync(path, "utf8")).toBe("new!\r\n");
        await session.neovim.until("the buffer shows it", 'return vim.fn.getline(1) == "new!"');
        expect(await session.neovim.lua("return vim.bo.modified")).toBe(false);
      });

      test.each([
        ["with its missing parents", "made/for/it.txt"],
        ["with names that Windows lacks", lacks("any bytes in a name") ? "a b" : "aux/dot./a:b/İ"],
        ["with a name of 242 bytes", "a".repeat(242)],
        ["with a name of 255 bytes", "ä".repeat(127).padEnd(128, "b")],
      ])("%s", async (_which, name) => {
        const path = session.path(name);
        const answer = open(session.client, path, "text\n");
        await press("<CR>");
        expect(await answer).toEqual(["FILE_SAVED", "text\n"]);
        expect(readFileSync(path, "utf8")).toBe("text\n");
      });

      needs("symlinks")(
        "through a symlink, keeping its mode, leaving no draft behind",
        async () => {
          const target = session.write("modes/script.sh", "old\n");
          chmodSync(target, 0o750);
          const link = session.link(`modes/link-${session.neovim.process.pid}`, target);
          const answer = open(session.client, link, "new\n");
          await press("<CR>");
          await answer;
          expect(lstatSync(link).isSymbolicLink()).toBe(true);
          expect(readFileSync(target, "utf8")).toBe("new\n");
          expect(statSync(target).mode & 0o777).toBe(0o750);
          expect(readdirSync(session.path("modes")).join()).not.toContain(".tmp");
        },
      );

      test.each([
        ["without its setuid and setgid bits", 0o6755, "<CR>", 0o755],
        ["also a read-only one, if the user says so", 0o444, "<CR>:w!<CR>", 0o444],
      ])("%s", async (_which, mode, keys, wanted) => {
        claims("A read-only file is written only after a `!`");
        const path = session.write(`modes/${mode.toString(8)}.sh`, "old\n");
        chmodSync(path, mode);
        const answer = open(session.client, path, "new\n");
        await press(keys);
        expect(await answer).toEqual(["FILE_SAVED", "new\n"]);
        expect(readFileSync(path, "utf8")).toBe("new\n");
        if (!lacks("modes of files")) expect(statSync(path).mode & 0o7777).toBe(wanted);
      });

      needs("symlinks")("but not where a symlink was put in its place just now", async () => {
        claims("An accepted edit goes to the file that was shown");
        const path = session.write("swapped.txt", "old\n");
        const other = session.write("other.txt", "other\n");
        // After Neovim has looked, and before the executable writes.
        await session.neovim.lua(
          `local channel, path, other = require("port").channel, ...
          local notify = channel.notify
          channel.notify = function(event, ...)
            if event == "diff_ended" then
              channel.notify = notify
              vim.uv.fs_unlink(path)
              vim.uv.fs_symlink(other, path)
            end
            return notify(event, ...)
          end`,
          path,
          other,
        );
        const answer = open(session.client, path, "new\n");
        answer.catch(() => {});
        await press("Amine<Esc><CR>");
        const message = `it led to ${path}, and leads to ${other} now`;
        expect(await outcomeOf(answer)).toThrow(message);
        await keepsEdits("newmine");
        expect(readFileSync(other, "utf8")).toBe("other\n");
      });
    });

    test("rejects the diff with close_tab, also when called twice", async () => {
      const name = "✻ [Claude Code] twice.txt (abc) ⧉";
      const answer = open(cli, session.path("twice.txt"), "x\n", name);
      await untilShown();
      const close = () => cli.texts("close_tab", { tab_name: name });
      expect(await Promise.all([close(), close()])).toEqual([["TAB_CLOSED"], ["TAB_CLOSED"]]);
      expect((await answer)[0]).toBe("DIFF_REJECTED");
      await untilGone();
    });

    test("closes only the caller's diffs with closeAllDiffTabs", async () => {
      using other = await TestClient.open(session.lock, "claude-code");
      const mine = open(cli, session.path("mine.txt"), "mine\n");
      await untilShown();
      const theirs = open(other, session.path("theirs.txt"), "theirs\n");
      expect(await other.texts("closeAllDiffTabs")).toEqual(["closed 1 diff tabs"]);
      expect((await theirs)[0]).toBe("DIFF_REJECTED");
      expect(await shown()).toBe(true);
      expect(await cli.texts("closeAllDiffTabs")).toEqual(["closed 1 diff tabs"]);
      expect((await mine)[0]).toBe("DIFF_REJECTED");
      await untilGone();
      expect(await cli.texts("closeAllDiffTabs")).toEqual(["closed 0 diff tabs"]);
    });

    test("closes the diffs of a client that disconnects, and shows none that were waiting", async () => {
      using gone = await TestClient.open(session.lock, "claude-code");
      await session.neovim.command("let [g:opened, g:closed] = [0, 0]");
      await session.neovim.command("autocmd User ClaudeCodeDiffOpened let g:opened += 1");
      await session.neovim.command("autocmd User ClaudeCodeDiffClosed let g:closed += 1");
      for (let n = 0; n < 20; n++) open(gone, session.path(`many-${n}.txt`), "x\n").catch(() => {});
      await session.neovim.until("all of them", "return require('port').diff_count() == 20");
      await untilShown();
      gone.terminate();
      await session.neovim.until("the end of all", "return vim.g.closed == 20");
      await untilGone();
      expect(await session.neovim.lua("return vim.g.opened")).toBe(1);
      expect(existsSync(session.path("many-0.txt"))).toBe(false);
    });

    test("gives the reason to another client in the answer", async () => {
      const path = session.write("reason.txt", "old\n");
      const answer = open(session.client, path, "new\n", "the name");
      await press(":Claude diff reject too clever<CR>");
      expect(await answer).toEqual(["DIFF_REJECTED", "the name", "too clever"]);
      expect(readFileSync(path, "utf8")).toBe("old\n");
    });

    const uri = "rejection:reason";
    const mentioned = (client: TestClient) => client.notifications("at_mentioned");
    const reason = (client: TestClient) => client.request("resources/read", { uri });

    test("gives the reason to a CLI elsewhere as a resource, and to no other client", async () => {
      const path = session.write("reason.txt", "old\n");
      using other = await TestClient.open(session.lock, "claude-code");
      const answer = open(cli, path, "new\n", "the name");
      await press(":Claude diff reject too clever<CR>");
      expect(await answer).toEqual(["DIFF_REJECTED", "the name"]);
      await cli.texts("close_tab", { tab_name: "the name" });
      await eventually("the mention", async () =>
        expect(mentioned(cli)).toEqual([{ filePath: `ide:${uri}` }]),
      );
      expect(await cli.request("resources/list")).toMatchObject({
        resources: expect.arrayContaining([expect.objectContaining({ uri })]),
      });
      const none = "You have already received every reason that the user gave.";
      expect(await reason(other)).toMatchObject({ contents: [{ text: none }] });
      const text = `I rejected your edit of ${path}: too clever`;
      expect(await reason(cli)).toMatchObject({ contents: [{ text }] });
      expect(await reason(cli)).toMatchObject({ contents: [{ text: none }] });
      expect(await outcomeOf(reason(session.client))).toThrow();
    });

    test("holds the reason while the CLI asks its user something: Enter would be the answer", async () => {
      const pid = 4_000_000;
      const folder = join(session.neovim.home, ".claude/sessions");
      mkdirSync(folder, { recursive: true });
      const state = (status: string) =>
        writeFileSync(join(folder, `${pid}.json`), JSON.stringify({ pid, status }));
      state("waiting");
      cli.notify("ide_connected", { pid });
      const path = session.write("reason.txt", "old\n");
      const answer = open(cli, path, "new\n", "the name");
      await press(":Claude diff reject too clever<CR>");
      await answer;
      await cli.texts("close_tab", { tab_name: "the name" });
      await Bun.sleep(1_000);
      expect(mentioned(cli)).toEqual([]);
      state("idle");
      await eventually("the reason", async () => expect(mentioned(cli)).toHaveLength(1));
    });

    test("rejects an open diff when Neovim ends", async () => {
      claims("Leaving Neovim rejects what waits");
      await using neovim = await TestNeovim.start({ version, ui: { width: 120, height: 30 } });
      using client = await TestClient.open(await neovim.lock(), "claude-code");
      const path = join(neovim.cwd, "left.txt");
      const answer = open(client, path, "text\n", "left");
      await neovim.until("the diff", 'return require("port").diff_shown()');
      await neovim.quit();
      expect(await answer).toEqual(["DIFF_REJECTED", "left"]);
      expect(existsSync(path)).toBe(false);
    });
  },
  { ui: { width: 120, height: 30 } },
);
