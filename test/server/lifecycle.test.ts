import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import {
  claims,
  eventually,
  isRunning,
  NEOVIMS,
  needs,
  outcomeOf,
  perBlock,
  ps,
  TestClient,
  TestNeovim,
} from "#test";
import type { LockContent } from "../../src/ide/lock-file";
import { basename, dirname, join } from "../../src/lib/platform";

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

interface Status {
  state: string;
  clients: unknown[];
}

const status = (neovim: TestNeovim) => neovim.lua<Status>(`return require("claude-code").status()`);

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

const locks = (neovim: TestNeovim) =>
  readdirSync(neovim.lockFolder).filter((name) => name.endsWith(".lock"));

async function folders(neovim: TestNeovim, wanted: string[]): Promise<void> {
  await eventually(`the folders ${wanted}`, async () => {
    const { content } = await neovim.lock();
    expect(content.workspaceFolders).toEqual(wanted);
  });
}

describe.each(NEOVIMS)("$name", (version) => {
  describe("one Neovim's server", () => {
    let lock: { path: string; port: number; content: LockContent };
    /** The content that another executable writes. */
    const again = () => ({ ...lock.content, modSocket: expect.stringContaining("/mod/") });
    let executable: number;

    const neovim = perBlock(() =>
      TestNeovim.start({
        version,
        setup: false,
        env: { HTTP_PROXY: "http://proxy.invalid:3128", NO_PROXY: "intranet.invalid" },
      }),
    );
    beforeAll(async () => {
      await neovim.lua(`
        EVENTS = {}
        vim.api.nvim_create_autocmd("User", { pattern = "ClaudeCode*", callback = function(event)
          table.insert(EVENTS, { event.match, event.data })
        end })
        require("claude-code").setup({})`);
      executable = await neovim.ready();
      lock = await neovim.lock();
    });

    const takeEvents = () =>
      neovim.lua<[string, Record<string, unknown>][]>(
        `local events = EVENTS; EVENTS = {}; return events`,
      );
    /** The environment that a terminal would inherit now. */
    const terminalEnv = (...names: string[]) =>
      neovim.lua<string[]>(
        `return vim.split(vim.fn.system({ "sh", "-c", ... }), "\\n", { trimempty = false })`,
        names.map((name) => `printf '%s\\n' "$${name}"`).join(";"),
      );

    test("writes the lock file of the specification", async () => {
      expect(lock.content).toEqual({
        pid: neovim.process.pid as number,
        workspaceFolders: [neovim.cwd],
        ideName: "Neovim",
        transport: "ws",
        runningInWindows: false,
        authToken: expect.stringMatching(UUID_V4),
        modSocket: expect.stringMatching(/\/mod\/\d+-\w{8}\.sock$/),
      });
      expect(lock.port).toBeWithin(10_000, 65_536);
      expect(mode(lock.path)).toBe("600");
      expect(mode(dirname(lock.path))).toBe("700");
      expect(await takeEvents()).toEqual([
        ["ClaudeCodeServerStarted", { port: lock.port, lock_file: lock.path }],
      ]);
    });

    test("keeps the token out of the command line and the log", async () => {
      claims("The token is in no argument, log or error");
      const argv = ps("args", executable);
      const log = await neovim.lua<string>(`return require("port").log.path()`);
      expect(argv).toEndWith("claude-code-nvim serve");
      expect(await Bun.file(log).text()).not.toContain(lock.content.authToken);
      expect(mode(log)).toBe("600");
    });

    test("points terminals to itself, past a proxy", async () => {
      const names = ["CLAUDE_CODE_SSE_PORT", "ENABLE_IDE_INTEGRATION", "NO_PROXY", "no_proxy"];
      const [port, integration, upper, lower] = await terminalEnv(...names);
      expect(port).toBe(String(lock.port));
      expect(integration).toBe("true");
      expect(upper).toBe("intranet.invalid,127.0.0.1,localhost");
      expect(lower).toBe(""); // set, it would hide the other from programs that read it first
    });

    test("reports clients once they have named themselves", async () => {
      const client = await TestClient.open(lock, "somebody");
      const next = () => eventually("an event", async () => (await takeEvents())[0] ?? false);
      const connected = await next();
      expect(connected[0]).toBe("ClaudeCodeClientConnected");
      expect(connected[1]).toMatchObject({ name: "somebody", version: "1.0.0" });
      expect((await status(neovim)).clients).toHaveLength(1);
      client.close();
      const gone = await next();
      expect(gone[0]).toBe("ClaudeCodeClientDisconnected");
      expect(gone[1]).toMatchObject({ name: "somebody" });
    });

    needs("symlinks")(
      "follows :cd by real paths, :tcd and tabs, and the repository with 'autochdir'",
      async () => {
        const { cwd, home } = neovim;
        for (const name of ["real", "other", "git/.git", "git/src", "git/lib"])
          mkdirSync(join(cwd, name), { recursive: true });
        symlinkSync(join(cwd, "real"), join(cwd, "link"));
        const seen = async () => (await neovim.lock()).content.workspaceFolders.join(" ");
        await neovim.plays(
          `
        :cd ${cwd}/link                         folders = ${cwd}/real
        :cd ${home}                             folders =
        :cd ${cwd}                              folders = ${cwd}
        :tabnew | tcd ${cwd}/other              folders = ${cwd}/other ${cwd}
        :tabnext                                folders = ${cwd} ${cwd}/other
        :tabonly!                               folders = ${cwd}
        :set autochdir | edit ${cwd}/git/src/a  folders = ${cwd}/git
        :edit ${cwd}/git/lib/b                  folders = ${cwd}/git  {getcwd()} ${cwd}/git/lib
                                                {v:lua.require'port'.launch.folder()} ${cwd}/git
        :edit ${cwd}/c                          folders = ${cwd}
        :set noautochdir | %bwipeout
        `,
          { words: { folders: seen } },
        );
        expect(mode(lock.path)).toBe("600");
      },
    );

    test("follows the folders of language servers that are attached", async () => {
      const library = join(neovim.home, "library");
      mkdirSync(library);
      await neovim.lua(
        `LSP = vim.lsp.start({
          name = "stub", root_dir = ..., cmd = require("port").language_server({}),
        })`,
        library,
      );
      await folders(neovim, [neovim.cwd, library]);
      await neovim.lua(`vim.lsp.buf_detach_client(0, LSP)`);
      await folders(neovim, [neovim.cwd]);
    });

    test("comes back on the same port with the same token when it is killed", async () => {
      await takeEvents();
      process.kill(executable, "SIGKILL");
      const before = executable;
      executable = await neovim.ready(before);
      expect((await neovim.lock()).content).toEqual(again());
      expect(locks(neovim)).toEqual([basename(lock.path)]);
      expect((await takeEvents()).map(([name, data]) => [name, data.reason])).toEqual([
        ["ClaudeCodeServerStopped", "crashed"],
        ["ClaudeCodeServerStarted", undefined],
      ]);
      using client = await TestClient.open(lock);
      expect(await client.request("ping")).toEqual({});
    });

    needs("signals")(
      "has another token if a stranger took its port, since the CLI sends the old one there",
      async () => {
        claims("A stranger who takes our port gets no valid token");
        // Neovim starts the next one at once, so it must be stopped while another program takes the port.
        neovim.process.kill("SIGSTOP");
        process.kill(executable, "SIGKILL");
        const stranger = await eventually("the port", () =>
          Bun.listen({ hostname: "127.0.0.1", port: lock.port, socket: { data() {} } }),
        );
        neovim.process.kill("SIGCONT");
        executable = await neovim.ready(executable);
        const next = await eventually("another lock file", async () => {
          const now = await neovim.lock();
          return now.port !== lock.port && now;
        });
        expect(next.content.authToken).not.toBe(lock.content.authToken);
        expect(locks(neovim)).toEqual([basename(next.path)]);
        const refused = TestClient.connect({ port: next.port, content: lock.content });
        expect(await outcomeOf(refused)).toThrow("refused");
        stranger.stop(true);
        // From here on it is the token, and the port, of this Neovim.
        lock = next;
        process.kill(executable, "SIGKILL");
        executable = await neovim.ready(executable);
        expect((await neovim.lock()).content).toEqual(again());
        const log = await neovim.lua<string>(`
        return table.concat(vim.fn.readfile(require("port").log.path()), "\\n")`);
        expect(log).not.toContain(lock.content.authToken);
      },
    );

    test("ends with :ClaudeCodeStop, and comes back the same with :ClaudeCodeStart", async () => {
      await neovim.command("ClaudeCodeStop");
      expect(locks(neovim)).toEqual([]);
      expect(await neovim.lua(`return require("port").channel.is_attached()`)).toBe(false);
      expect((await status(neovim)).state).toBe("stopped");
      expect(
        await terminalEnv("CLAUDE_CODE_SSE_PORT", "ENABLE_IDE_INTEGRATION", "NO_PROXY"),
      ).toEqual(["", "", "intranet.invalid", ""]);
      await eventually("the end of the executable", () => !isRunning(executable));
      await neovim.command("ClaudeCodeStart");
      executable = await neovim.ready();
      expect((await neovim.lock()).content).toEqual(again());
      expect((await neovim.lock()).path).toBe(lock.path);
    });

    needs("signals")(
      "keeps port and token when :ClaudeCodeStop and :ClaudeCodeStart run in one go",
      async () => {
        const before = executable;
        process.kill(before, "SIGSTOP"); // slow to let go of its port
        await neovim.lua(`vim.cmd('ClaudeCodeStop') vim.cmd('ClaudeCodeStart')`);
        // The next one waits for the port for a second, of which little may be lost.
        await Bun.sleep(200);
        process.kill(before, "SIGCONT");
        executable = await neovim.ready(before);
        expect((await neovim.lock()).content).toEqual(again());
        expect((await neovim.lock()).path).toBe(lock.path);
        await eventually("the end of the previous executable", () => !isRunning(before));
        await Bun.sleep(100);
        expect(locks(neovim)).toEqual([basename(lock.path)]);
      },
    );

    test("leaves nothing behind after :qa", async () => {
      await neovim.quit();
      expect(locks(neovim)).toEqual([]);
      await eventually("the end of the executable", () => !isRunning(executable));
    });
  });

  // The executable may write into the folder meanwhile.
  const remove = (path: string) => rmSync(path, { recursive: true, force: true });
  const harms: [harm: string, harm: (path: string) => void][] = [
    ["the file was removed", (path) => remove(path)],
    ["its folder was removed", (path) => remove(dirname(path))],
    ["its folder was moved", (path) => renameSync(dirname(path), `${dirname(path)}-old`)],
    [
      "its folder was made again",
      (path) => {
        remove(dirname(path));
        // The executable may have been first.
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      },
    ],
  ];
  test.each(harms)("writes its lock file again where %s", async (_name, harm) => {
    await using neovim = await TestNeovim.start({ version });
    const { path } = await neovim.lock();
    for (let i = 0; i < 2; i++) {
      harm(path);
      await eventually("the lock file", () => existsSync(path), 3000);
      rmSync(`${dirname(path)}-old`, { recursive: true, force: true });
    }
  });

  describe("the lock file", () => {
    test("leaves none after kill -9 of the executable and :qa at once", async () => {
      await using neovim = await TestNeovim.start({ version });
      process.kill(await neovim.ready(), "SIGKILL");
      await neovim.quit();
      await eventually("no lock file", () => locks(neovim).length === 0);
    });

    needs("signals")(
      "leaves none when the executable hangs at :qa, which does not wait for it",
      async () => {
        await using neovim = await TestNeovim.start({ version });
        const executable = await neovim.ready();
        process.kill(executable, "SIGSTOP");
        await neovim.quit();
        // Neovim must end on its own: after 20 s the test kills it.
        expect(neovim.process.signalCode).toBeNull();
        expect(locks(neovim)).toEqual([]);
        await eventually("the end of the executable", () => !isRunning(executable));
      },
    );
  });

  needs("symlinks")("is not kept waiting by endless lock files", async () => {
    claims("FIFOs and endless files keep nothing waiting");
    await using neovim = await TestNeovim.start({ version, setup: false });
    mkdirSync(neovim.lockFolder, { recursive: true });
    const path = (name: string) => join(neovim.lockFolder, name);
    Bun.spawnSync(["mkfifo", path("11.lock")]);
    symlinkSync(path("11.lock"), path("12.lock"));
    symlinkSync("/dev/zero", path("13.lock"));
    writeFileSync(path("14.lock"), "");
    truncateSync(path("14.lock"), 3e9);
    await neovim.lua(`require("claude-code").setup({})`);
    const executable = await neovim.ready();
    process.kill(executable, "SIGKILL");
    await neovim.ready(executable);
    await neovim.quit();
    expect(locks(neovim).toSorted()).toEqual(["11.lock", "12.lock", "13.lock", "14.lock"]);
  });

  test("honours CLAUDE_CONFIG_DIR, and leaves another editor's lock file there", async () => {
    claims("Damaged records and lock files break nothing else");
    await using neovim = await TestNeovim.start({ version, setup: false });
    const folder = join(neovim.cwd, "own/ide");
    mkdirSync(folder, { recursive: true });
    const rival = { pid: process.pid, ideName: "Rival", workspaceFolders: [neovim.cwd] };
    await Bun.write(join(folder, "10.lock"), JSON.stringify(rival));
    await neovim.lua(`vim.env.CLAUDE_CONFIG_DIR = "./own"; require("claude-code").setup({})`);
    await neovim.command("cd /");
    await neovim.ready();
    expect(readdirSync(folder)).toHaveLength(2);
    const lock = await neovim.lua<string>(`return require("claude-code").status().lock_file`);
    expect(dirname(lock)).toBe(folder);
    await neovim.quit();
    expect(readdirSync(folder)).toEqual(["10.lock"]);
  });
});
