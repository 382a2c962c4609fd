import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import {
  claims,
  eventually,
  isRunning,
  NEOVIMS,
  NEWEST,
  type NeovimOptions,
  type NeovimVersion,
  needs,
  stateFolderOf,
  TestClient,
  TestNeovim,
  temporaryFolder,
} from "#test";
import { basename, join } from "../../src/lib/platform";
import { platformSkip } from "../support/platform-skip";

interface Running {
  neovim: TestNeovim;
  lock: Awaited<ReturnType<TestNeovim["lock"]>>;
  executable: number;
  client: TestClient;
}

async function running(options: NeovimOptions): Promise<Running> {
  const neovim = await TestNeovim.start(options);
  const executable = await neovim.ready();
  const lock = await neovim.lock();
  return { neovim, lock, executable, client: await TestClient.open(lock) };
}

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });

function propose(client: TestClient, neovim: TestNeovim, name: string) {
  const answer = client.openDiff(join(neovim.cwd, name), "proposed\n", name);
  answer.catch(() => {});
  return answer;
}

const diffShown = (neovim: TestNeovim) =>
  neovim.until("a diff on screen", `return require("port").diff_shown()`);

const tidy = (neovim: TestNeovim) =>
  neovim.until("the diffs to go", `return require("port").diff_state() == "gone"`);

describe.each(NEOVIMS)("$name", (version) => {
  const moments: [string, (running: Running) => unknown][] = [
    ["while nothing happens", () => {}],
    [
      "while a diff is shown and others wait",
      async ({ client, neovim }) => {
        for (const name of ["a", "b", "c"]) void propose(client, neovim, name);
        await diffShown(neovim);
      },
    ],
    [
      "in the middle of 500 calls",
      ({ client }) => {
        for (let i = 0; i < 500; i++) client.call("getOpenEditors").catch(() => {});
      },
    ],
    [
      "in the middle of a diff of 5 MB",
      async ({ client, neovim }) => {
        await Bun.write(join(neovim.cwd, "big"), "old\n");
        const contents = "a proposed line\n".repeat(320_000);
        client.openDiff(join(neovim.cwd, "big"), contents).catch(() => {});
        await Bun.sleep(20);
      },
    ],
  ];

  test.each(moments)("recovers after kill -9 of the executable %s", async (_name, busy) => {
    const before = await running({ version });
    await using neovim = before.neovim;
    await busy(before);
    process.kill(before.executable, "SIGKILL");
    await before.client.closed;
    await neovim.ready(before.executable);
    await tidy(neovim);
    // Each executable has its own socket for mods.
    const { modSocket: _, ...content } = before.lock.content as { modSocket?: string };
    expect(await neovim.lock()).toMatchObject({ ...before.lock, content });
    using client = await TestClient.open(before.lock);
    expect(await client.json("getOpenEditors")).toHaveProperty("tabs");
    const accepted = propose(client, neovim, "after");
    await diffShown(neovim);
    await neovim.lua(`require("port").accept()`);
    expect((await accepted)[0]).toBe("FILE_SAVED");
  });

  test.each([
    ["begins to start", ""],
    ["has written its lock file", `repeat until #vim.fn.glob((...) .. "/*.lock") > 0`],
  ])("serves at the next start after kill -9 of the executable that %s", async (_name, wait) => {
    await using neovim = await TestNeovim.start({ version, setup: "{ auto_start = false }" });
    // Neovim learns nothing from it in the meantime.
    await neovim.lua(
      `require("claude-code").start()
      ${wait}
      vim.uv.kill(require("claude-code").status().process_id, "sigkill")`,
      neovim.lockFolder,
    );
    // An executable that was never ready is not restarted automatically.
    await neovim.until("its end", `return require("claude-code").status().state == "failed"`);
    await neovim.lua(`require("claude-code").start()`);
    await neovim.ready();
    expect(readdirSync(neovim.lockFolder)).toHaveLength(1);
    using client = await TestClient.open(await neovim.lock());
    expect(await client.json("getOpenEditors")).toHaveProperty("tabs");
  });

  test("leaves no process, port or file after kill -9 of Neovim in a diff", async () => {
    claims("Leaving Neovim rejects what waits");
    const { neovim, lock, executable, client } = await running({ version });
    await using _ = neovim;
    const proposed = propose(client, neovim, "a");
    await diffShown(neovim);
    const state = stateFolderOf(neovim.home);
    neovim.process.kill("SIGKILL");
    expect((await proposed)[0]).toBe("DIFF_REJECTED");
    await client.closed;
    await eventually("the end of the executable", () => !isRunning(executable));
    expect(await isOpen(lock.port)).toBe(false);
    expect(readdirSync(neovim.lockFolder)).toEqual([]);
    const left = existsSync(state) ? readdirSync(state, { recursive: true }).map(String) : [];
    expect(left.filter((name) => name.includes(String(neovim.process.pid)))).toEqual([]);
  });

  test("removes the lock file of a Neovim that was killed together with the executable, as Windows does", async () => {
    const { neovim, lock, executable } = await running({ version });
    await using _ = neovim;
    for (const pid of [lock.content.pid as number, executable]) process.kill(pid, "SIGKILL");
    await eventually("the end", () => !isRunning(executable));
    expect(readdirSync(neovim.lockFolder)).toEqual([basename(lock.path)]);
    await using next = await TestNeovim.start({ version, home: neovim.home });
    await next.ready();
    expect(readdirSync(neovim.lockFolder)).toEqual([basename((await next.lock()).path)]);
  });
});

needs("signals")("serves the same clients after both were stopped and continued", async () => {
  const { neovim, executable, client } = await running({ version: NEWEST });
  await using _ = neovim;
  process.kill(executable, "SIGSTOP");
  neovim.process.kill("SIGSTOP");
  await Bun.sleep(500);
  neovim.process.kill("SIGCONT");
  process.kill(executable, "SIGCONT");
  expect(await client.json("getOpenEditors")).toHaveProperty("tabs");
  expect(await neovim.ready()).toBe(executable);
});

describe("nowhere to write", () => {
  const version = NEWEST;
  const says = (neovim: TestNeovim) =>
    eventually("a word about the lock file", async () => {
      const { state, last_error } = await neovim.lua<{ state: string; last_error?: string }>(
        `return require("claude-code").status()`,
      );
      return state === "ready" && last_error !== undefined && last_error;
    });

  test("says that the lock folder is a file, and serves terminals", async () => {
    await using neovim = await TestNeovim.start({ version, setup: false });
    const folder = join(neovim.home, ".claude/ide");
    await Bun.write(folder, "in the way");
    await neovim.lua(`require("claude-code").setup({})`);
    expect(await says(neovim)).toContain(folder);
    const port = Number(await neovim.lua("return vim.env.CLAUDE_CODE_SSE_PORT"));
    expect(await isOpen(port)).toBe(true);
    expect(readFileSync(folder, "utf8")).toBe("in the way");
  });

  test("says that the disk is full, and writes the lock file later", async () => {
    const namespace = ["unshare", "--map-root-user", "--mount", "--"];
    if (!Bun.which("unshare") || Bun.spawnSync([...namespace, "true"]).exitCode !== 0) {
      platformSkip("a full disk needs a mount namespace (unshare) to be tried");
      return;
    }
    await using neovim = await TestNeovim.start({ version: onFullDisk(version) });
    expect(await says(neovim)).toContain("cannot be written");
    await neovim.lua(`vim.uv.fs_unlink(vim.env.HOME .. "/filling")`);
    await neovim.until("the lock file", `return #vim.fn.glob("$HOME/.claude/ide/*.lock") > 0`);
    // This exists only in the namespace: the disk cannot be seen from here.
    const [text = ""] = await neovim.lua<string[]>(
      `return vim.fn.readfile(vim.fn.glob("$HOME/.claude/ide/*.lock"))`,
    );
    const port = Number(await neovim.lua("return vim.env.CLAUDE_CODE_SSE_PORT"));
    using client = await TestClient.open({ port, content: JSON.parse(text) });
    expect(await client.request("ping")).toEqual({});
    await neovim.until(
      "no error any more",
      `return require("claude-code").status().last_error == nil`,
    );
  });
});

/** The same Neovim with a disk of its own at $HOME, which is full. */
function onFullDisk(version: NeovimVersion): NeovimVersion {
  const binary = join(temporaryFolder(), "nvim");
  const prepare = [
    `mount -t tmpfs -o size=1m tmpfs "$HOME"`,
    `mkdir -m 700 "$HOME/run"`,
    `{ dd if=/dev/zero of="$HOME/filling" bs=4k 2>/dev/null || true; }`,
    `exec "$0" "$@"`,
  ].join(" && ");
  const enter = `exec unshare --map-root-user --mount -- sh -c '${prepare}'`;
  writeFileSync(binary, `#!/bin/sh\n${enter} '${version.binary}' "$@"\n`, { mode: 0o755 });
  return { name: version.name, binary };
}
