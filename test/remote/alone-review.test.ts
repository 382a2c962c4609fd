import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Log } from "../../src/lib/log";
import type { Channel, Kind } from "../../src/remote/channels";
import { JoinedReview } from "../../src/remote/joined-review";
import type { Link } from "../../src/remote/link";
import { Mirror } from "../../src/remote/mirror";
import { PathMap } from "../../src/remote/path-map";
import { RemoteReview } from "../../src/remote/remote-review";
import type { ReviewPort } from "../../src/review/endpoint";
import { eventually } from "../support/eventually";
import { nightly, temporaryFolder } from "../support/neovim";
import { outcomeOf } from "../support/outcome";
import { Box, THERE } from "./box";

const BASE = `${Array.from({ length: 20 }, (_, i) => `line ${i + 1}`).join("\n")}\n`;
const changed = (text: string, ...rows: number[]) =>
  rows.reduce((all, row) => all.replace(`line ${row}\n`, `LINE ${row}\n`), text);

describe("the review of files that are in the remote alone", () => {
  let box: Box;
  let uses = 0;
  beforeAll(async () => {
    box = await Box.start({ "a.txt": BASE, "b.txt": BASE });
    git("init -q .", "config user.name a", "config user.email a@b", "add -A", "commit -qm first");
  });
  afterAll(() => box?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await box.neovim.lua("SAID = {}");
  });

  const git = (...commands: string[]) => {
    for (const command of commands) {
      const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", `git ${command}`], {
        cwd: box.project,
      });
      if (exitCode !== 0) throw new Error(`${command}: ${stderr}`);
    }
  };
  /** A command of ours as it runs beside the CLI there. */
  const beside = (...words: string[]) => {
    const [name = ""] = readdirSync(join(box.home, ".claude/ide"));
    const port = `CLAUDE_CODE_SSE_PORT=${Number.parseInt(name, 10)}`;
    const env = ["/usr/bin/env", "-C", THERE, port, `CLAUDE_PROJECT_DIR=${THERE}`];
    return box.inside([...env, box.executable, ...words]);
  };
  const hook = async (event: string, input: object) => {
    const given = { session_id: "one", prompt_id: "p1", cwd: THERE, ...input };
    const child = Bun.spawn(beside("hook", event, "--from-neovim"), {
      stdin: new Blob([JSON.stringify(given)]),
      stdout: "pipe",
    });
    return await new Response(child.stdout).text();
  };
  /** Claude edits a file there. */
  const edit = async (name: string, text: string, more = {}) => {
    const before = box.read(name);
    box.write(name, text);
    await hook("post-tool-use", {
      tool_name: "Edit",
      tool_use_id: `use-${++uses}`,
      tool_input: { file_path: `${THERE}/${name}` },
      tool_response: { filePath: `${THERE}/${name}`, originalFile: before },
      ...more,
    });
  };
  const ask = <T = { files: { path: string }[] }>(method: string, params: object) =>
    box.neovim.lua<{ value?: T; problem?: string }>(
      `local method, params = ...
       local answer
       require("port").server_requests.request("review/" .. method, params, function(value, problem)
         answer = { value = value, problem = problem }
       end)
       vim.wait(20000, function() return answer ~= nil end, 5)
       return answer`,
      method,
      params,
    );
  const waiting = () =>
    box.neovim.lua<number>('return require("claude-code.editor.review").count()');
  const hunks = (count: number) =>
    eventually(`${count} hunks`, async () => (await waiting()) === count);
  const names = async () => (await ask("list", {})).value?.files.map(({ path }) => path);

  test("what Claude changed there is recorded there, not here, and Neovim learns of it", async () => {
    await hook("user-prompt-submit", { prompt: "do it" });
    await edit("a.txt", changed(BASE, 2, 10));
    await hook("stop", { stop_hook_active: false });
    await hunks(2);
    expect(await names()).toEqual([box.mirror("a.txt")]);
    const journals = (home: string) => {
      const folder = join(home, ".local/state/claude-code.nvim/review");
      const roots = existsSync(folder) ? [...new Bun.Glob("*/root").scanSync({ cwd: folder })] : [];
      return roots.map((root) => readFileSync(join(folder, root), "utf8"));
    };
    expect(journals(box.home)).toEqual([THERE]);
    expect(journals(box.neovim.home)).not.toContain(box.mirror("").replace(/\/$/, ""));
  });

  test("gr undoes a hunk in the buffer, which is written there", async () => {
    await box.neovim.command("Claude review!");
    await eventually("the list", () => box.neovim.lua("return #vim.fn.getqflist() == 2"));
    // The list shows the first file, which comes for it.
    await eventually("the file", async () => (await box.text("a.txt")) !== "");
    await box.neovim.command("cfirst");
    expect(await box.neovim.lua("return vim.api.nvim_buf_get_name(0)")).toBe(box.mirror("a.txt"));
    expect(await box.neovim.lua("return vim.fn.getline('.')")).toBe("LINE 2");
    await eventually("its keys", () =>
      box.neovim.lua<boolean>('return vim.fn.maparg("gr", "n", false, true).buffer == 1'),
    );
    await box.neovim.lua("vim.o.timeoutlen = 10");
    await box.neovim.type("gr");
    await eventually("the undo", () => box.read("a.txt") === changed(BASE, 10));
    await hunks(1);
    expect(await box.neovim.lua("return vim.bo.modified")).toBe(false);
    await box.neovim.type("gB");
    await eventually("taken back", () => box.read("a.txt") === changed(BASE, 2, 10));
    await hunks(2);
  });

  test("a file that no buffer has is undone there, and its copy here follows", async () => {
    await edit("b.txt", changed(BASE, 5));
    await hunks(3);
    const undone = await ask<{ decision: string }>("undo", {
      files: [{ path: box.mirror("b.txt") }],
    });
    expect(undone.problem).toBeUndefined();
    expect(box.read("b.txt")).toBe(BASE);
    expect(readFileSync(box.mirror("b.txt"), "utf8")).toBe(BASE);
    const last = (await ask<{ decision: string; paths: string[] }>("last", {})).value;
    expect(last).toMatchObject({
      decision: undone.value?.decision ?? "",
      paths: [box.mirror("b.txt")],
    });
    await ask("back", { decision: last?.decision });
    expect(box.read("b.txt")).toBe(changed(BASE, 5));
    expect(readFileSync(box.mirror("b.txt"), "utf8")).toBe(changed(BASE, 5));
    await hunks(3);
  });

  test("beside it the review of files that are here", async () => {
    const { cwd } = box.neovim;
    writeFileSync(join(cwd, "here.txt"), "new\n");
    const env = {
      ...process.env,
      HOME: box.neovim.home,
      XDG_STATE_HOME: join(box.neovim.home, ".local/state"),
    };
    const given = {
      ...{ session_id: "two", cwd, tool_name: "Write", tool_use_id: "u" },
      tool_input: { file_path: join(cwd, "here.txt") },
      tool_response: { type: "create", filePath: join(cwd, "here.txt"), originalFile: null },
    };
    const child = Bun.spawn([box.executable, "hook", "post-tool-use", "--from-neovim"], {
      ...{ cwd, env: { ...env, CLAUDE_PROJECT_DIR: cwd, NVIM: "" } },
      stdin: new Blob([JSON.stringify(given)]),
    });
    await child.exited;
    await hunks(4);
    const all = [box.mirror("a.txt"), box.mirror("b.txt"), join(cwd, "here.txt")].sort();
    expect(await names()).toEqual(all);
    const { version } = (await ask<{ version: string }>("list", {})).value ?? {};
    expect((await ask("list", { known: version })).value).toEqual({ unchanged: true } as never);
    expect((await ask("list", { paths: [cwd] })).value?.files.length).toBe(1);
    const both = [join(cwd, "here.txt"), box.mirror("b.txt")];
    const kept = await ask("keep", { files: both.map((path) => ({ path })) });
    expect(kept.value?.files.map(({ path }) => path).sort()).toEqual(both.sort());
    await hunks(2);
  });

  const message = () =>
    eventually("the message", () =>
      box.neovim.lua<boolean>('return vim.api.nvim_buf_get_name(0):find("COMMIT_EDITMSG") ~= nil'),
    );
  const said = (words: string) =>
    eventually(words, () =>
      box.neovim.lua<boolean>(
        'return table.concat(SAID, "\\n"):find((...), 1, true) ~= nil',
        words,
      ),
    );
  const commits = () => {
    const { stdout } = Bun.spawnSync(["git", "log", "--stat=200", "--format=%s"], {
      cwd: box.project,
    });
    return stdout.toString();
  };
  const commit = async () => {
    await box.neovim.command(`silent! only | edit! ${box.mirror("b.txt")}`);
    await box.neovim.lua('vim.schedule(function() vim.cmd("Claude commit") end)');
    await message();
  };

  test(":Claude commit whose message is left, or whose relay is killed, makes none", async () => {
    await commit();
    await box.neovim.command("quit");
    await said("nothing is committed");
    await commit();
    process.kill(await box.relay(), "SIGKILL");
    await said("the connection to box is down");
    await box.neovim.command("silent! call setline(1, 'late') | silent! wq");
    await box.up();
    await hunks(2);
    expect(commits()).toStartWith("first\n");
  });

  test(":Claude commit commits there what was kept, with a message from this Neovim", async () => {
    await commit();
    await box.neovim.command("call setline(1, 'from here') | wq");
    await said("committed 1 change in 1 file");
    expect(commits()).toMatch(/^from here\n\n b\.txt [\s\S]*1 file changed[\s\S]*first/);
  });

  test("no message of git's is opened without a commit of the user's", async () => {
    box.write("message", "text\n");
    const child = Bun.spawn(beside("edit", "--commit", `${process.pid}`, `${THERE}/message`));
    expect(await child.exited).toBe(1);
    const names = `return table.concat(vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs()), " ")`;
    expect(await box.neovim.lua<string>(names)).not.toContain("COMMIT_EDITMSG");
  });

  nightly.test("an undo while Claude works is carried out there when its turn ends", async () => {
    await hook("user-prompt-submit", { prompt: "more", prompt_id: "p2" });
    await edit("b.txt", box.read("b.txt").replace("line 9", "NINE"), { prompt_id: "p2" });
    await hunks(3);
    const queued = await ask<{ queued: boolean }>("undo", {
      files: [{ path: box.mirror("b.txt") }],
    });
    expect(queued.value).toMatchObject({ queued: true });
    expect(box.read("b.txt")).toContain("NINE");
    await hook("stop", { stop_hook_active: false, prompt_id: "p2" });
    await eventually("the undo", () => box.read("b.txt").includes("line 9"));
    await hunks(2);
    const context = await hook("user-prompt-submit", { prompt: "and", prompt_id: "p3" });
    expect(context).toContain("b.txt");
    await hook("stop", { stop_hook_active: false, prompt_id: "p3" });
  });

  nightly.test(
    "the relay that is killed: decisions say so, the list does, and it is there again after that",
    async () => {
      process.kill(await box.relay(), "SIGSTOP");
      const relay = await box.relay();
      const undone = ask("undo", { files: [{ path: box.mirror("a.txt") }] });
      process.kill(relay, "SIGKILL");
      expect((await undone).problem).toContain("the connection to box is down");
      expect(box.read("a.txt")).toBe(changed(BASE, 2, 10));
      const list = await ask<{ incomplete: string[] }>("list", {});
      expect(list.value?.incomplete).toContain(
        "the changes in box are not listed: the connection to box is down",
      );
      await box.up();
      await hunks(2);
      await ask("undo", { files: [{ path: box.mirror("a.txt") }] });
      expect(box.read("a.txt")).toBe(BASE);
    },
  );

  nightly.test(
    "a relay that is killed in the middle of an undo: what is undone is not listed, and what is listed stands there",
    async () => {
      const texts = { "a.txt": changed(BASE, 3, 12), "b.txt": changed(box.read("b.txt"), 14) };
      for (const ms of [5, 40]) {
        for (const [name, text] of Object.entries(texts))
          await edit(name, text, { prompt_id: "p4" });
        await hook("stop", { stop_hook_active: false, prompt_id: "p4" });
        await hunks(3);
        const relay = await box.relay();
        const files = Object.keys(texts).map((name) => ({ path: box.mirror(name) }));
        const undone = ask("undo", { files });
        await Bun.sleep(ms);
        process.kill(relay, "SIGKILL");
        await undone;
        await eventually("another relay", async () => (await box.relay()) !== relay);
        await box.up();
        const listed = await names();
        for (const [name, text] of Object.entries(texts))
          expect(box.read(name) === text).toBe(listed?.includes(box.mirror(name)) === true);
      }
    },
    60_000,
  );
});

describe("a review of which nothing is believed", () => {
  const folder = temporaryFolder();
  const root = join(folder, "mirror");
  mkdirSync(root);
  afterAll(() => rmSync(folder, { recursive: true }));
  const log = new Log({ file: join(folder, "log") });
  const map = new PathMap([{ remote: THERE, host: root }], "posix");

  /** A remote that answers every request with `value`; what it is asked; what it says of its own. */
  function hostile(value: unknown, shared = map) {
    const asked: string[] = [];
    const open = (kind: Kind) => {
      const channel: Channel = {
        kind,
        send(text) {
          asked.push(text);
          const { id } = JSON.parse(text);
          const said = kind === "review" ? { id, value } : { id, path: "", problem: "none" };
          queueMicrotask(() => channel.onMessage(JSON.stringify(said)));
        },
        close() {},
        onMessage: () => {},
        onClose: () => {},
      };
      if (kind === "review") say = (said) => channel.onMessage(JSON.stringify(said));
      return channel;
    };
    let say: (said: unknown) => void = () => {};
    const link = { open } as unknown as Link;
    const mirror = new Mirror("box", [root], shared, log, join(folder, "records"));
    mirror.connect(link, []);
    const review = new RemoteReview("box", mirror, shared, () => {}, log);
    review.connect(link);
    return { review, mirror, asked, say: (said: unknown) => say(said) };
  }
  const FILE = {
    ...{ kind: "changed", hunk_count: 0, hunks: [], owners: [], queued: false, version: "1" },
  };
  const COUNTS = { files: 1, hunks: 1, added: 1, removed: 1 };
  const HOSTILE_PATHS = [
    "/etc/passwd",
    `${THERE}/../../etc/passwd`,
    join(root, "a"),
    "a",
    "",
    7,
    null,
    "\0",
  ];

  test("lists no file but those of its folders, and nothing that is not in the contract", async () => {
    const others = HOSTILE_PATHS.map((path) => ({ ...FILE, path }));
    const odd = [{ ...FILE, path: `${THERE}/b`, kind: "other" }, { path: `${THERE}/b` }, 7, null];
    const good = { ...FILE, path: `${THERE}/a`, from: `${THERE}/b`, command: "x" };
    const { review, asked } = hostile({
      ...{ version: "1", files: [...others, ...odd, good], counts: COUNTS, ignored: 0 },
      incomplete: ["\x1b[31mred\nline"],
    });
    const list = await review.ask("list", {});
    const { command: _, ...passed } = good;
    expect(list).toMatchObject({
      files: [{ ...passed, path: join(root, "a"), from: join(root, "b") }],
      incomplete: [expect.not.stringMatching(/\p{Cc}/u)],
    });
    expect(JSON.stringify(list)).not.toContain("command");
    expect(asked.filter((text) => !text.includes("method"))).toEqual([]);
  });

  test("decides about no other file, and its decisions are taken for no other ones", async () => {
    const files = [
      ...HOSTILE_PATHS.map((path) => ({ path, removed: true })),
      { path: `${THERE}/a` },
    ];
    const { review, asked } = hostile({ decision: "of-here", files });
    const undone = await review.ask("undo", { files: [{ path: join(root, "a") }] });
    expect(undone).toEqual({ decision: "remote box of-here", files: [{ path: join(root, "a") }] });
    expect(review.decided("of-here")).toBe(false);
    expect(review.decided(undone.decision)).toBe(true);
    await review.ask("back", { decision: undone.decision });
    const back = asked.find((text) => text.includes("back"));
    expect(JSON.parse(back as string).params).toEqual({ decision: "of-here" });
  });

  test("answers a decision about some files with these alone, and none of a shared folder", async () => {
    const shared = join(folder, "shared");
    mkdirSync(shared);
    const mappings = [
      { remote: THERE, host: root, isMirror: true },
      { remote: "/srv/y", host: shared },
    ];
    const both = new PathMap(mappings, "posix");
    const edits = [{ first: 1, count: 0, expected: [], lines: ["RVZJTA=="] }];
    const named = ["/srv/y/b", `${THERE}/b`, `${THERE}/a`].map((path) => ({ path, edits }));
    const value = { decision: "d", files: named.map((one) => ({ ...FILE, ...one })) };
    const list = { version: "1", counts: COUNTS, incomplete: [], ignored: 0, ...value };
    for (const method of ["undo", "back", "keep"] as const) {
      const { review } = hostile(value, both);
      const { files } = await review.ask(method, { files: [{ path: join(root, "a") }] });
      expect(files.map(({ path }) => path)).toEqual([join(root, "a")]);
    }
    const done = await hostile(value, both).review.ask("done", {});
    expect(done.files).toEqual([{ path: join(root, "b") }, { path: join(root, "a") }]);
    expect(await hostile(list, both).review.ask("list", {})).toMatchObject({
      files: [{ path: join(root, "b") }, { path: join(root, "a") }],
    });
    rmSync(shared, { recursive: true });
  });

  test("reports no comment, and a report or an answer that is wrong is none", async () => {
    const { review, say } = hostile({ files: 7 });
    review.open();
    const summary = { counts: COUNTS, incomplete: false, due: [], runs: true };
    for (const wrong of [{ ...summary, counts: {} }, { ...summary, due: 7 }, null, []]) {
      say({ summary: wrong });
      expect(review.summary).toBeUndefined();
    }
    say({ summary: { ...summary, comments: [{ text: "do it" }] } });
    expect(review.summary).toEqual(summary);
    for (const method of ["list", "undo", "last", "commit", "base", "why", "file"] as const)
      expect(await outcomeOf(review.ask(method, {}))).toThrow();
  });

  test("gets no path of this machine, and bytes as they are", async () => {
    const paths = [join(root, "a"), "/etc/passwd", join(folder, "x")];
    const texts = paths.map((path) => ({ path, text: new Uint8Array([0, 255]) }));
    const { review, asked } = hostile(null);
    const params = {
      path: paths[1],
      paths,
      texts,
      files: texts,
      expanded: paths,
      branch: { root: folder },
    };
    await outcomeOf(review.ask("list", params));
    await outcomeOf(
      review.ask("written", { path: join(root, "a"), over: new Uint8Array([0, 255]) }),
    );
    const here: ReviewPort = {
      ...{ onDelta: { on: () => {} }, state: { folders: [] }, loadedFiles: () => [] },
      call: async () => undefined,
    };
    const options = new Map<"privacy" | "ignore", object>();
    const elsewhere = { reviews: () => [review], onSummary: () => {}, reviewOptions: options };
    const patterns = ["*.log", `${folder}/**`, "~/secret"];
    await new JoinedReview(here, elsewhere, log).answer("ignore", { patterns });
    expect([...options.values()]).toEqual([{ patterns: ["*.log"] }]);
    const sent = asked.join("\n");
    expect(sent).not.toContain(folder);
    expect(sent).not.toContain("passwd");
    expect(JSON.parse(asked[0] as string).params.texts[0]).toEqual({
      path: `${THERE}/a`,
      text: "AP8=",
    });
    expect(JSON.parse(asked[1] as string).params).toEqual({ path: `${THERE}/a`, over: "AP8=" });
  });
});
