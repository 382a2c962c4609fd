import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { EXECUTABLE, eventually, isolatedEnv, NEWEST, perBlock, TestClient } from "#test";
import { join } from "../../src/lib/platform";
import { said, shows, startNeovim } from "../terminal/workbench";
import { type Lock, World } from "./world";

/** Each is special in a shell. */
const GREETING = `it's "$(id)" \`id\` $HOME \\ ; & * é`;

describe("Claude behind a program that changes the traffic", () => {
  let world: World;
  let inside: string;
  const neovim = perBlock(() => startNeovim(NEWEST, "{}"));
  beforeAll(async () => {
    await neovim.lock();
    writeFileSync(join(neovim.cwd, "a.txt"), "one\n");
  });
  beforeEach(() => {
    world = new World();
    inside = world.home;
    // It prints its arguments, and keeps running.
    write(
      "claude",
      `printf '%s\\0' "$PWD" "$@" "$GREETING" >${inside}/new; mv ${inside}/new ${inside}/session; echo up; exec cat`,
    );
  });
  afterEach(async () => {
    await neovim.lua(`require("port").terminal.close_all()`);
    world[Symbol.dispose]();
  });

  const write = (name: string, body: string) => {
    const path = join(inside, name);
    writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return path;
  };
  /** The environment of programs there, in words for env(1). */
  const variables = () => {
    const words = Object.entries(isolatedEnv(inside)).map(([name, value]) => `'${name}=${value}'`);
    return `env -i ${words.join(" ")}`;
  };
  const start = async (remote: object) => {
    await neovim.lua(
      `SAID = {}
       local remote, greeting = ...
       require("claude-code").setup({
         terminal = { remote = "dev", env = { GREETING = greeting } },
         remotes = { dev = remote },
       })`,
      remote,
      GREETING,
    );
    await neovim.command("Claude");
    await shows(neovim, "up");
    return world.locks()[0] as Lock;
  };
  const session = async () => {
    const path = join(inside, "session");
    await eventually("Claude", () => existsSync(path));
    const [folder = "", ...words] = readFileSync(path, "utf8").split("\0");
    return { folder, words };
  };
  const expectWords = async (folder: string) => {
    const started = await session();
    expect(started.folder).toBe(folder);
    expect(started.words).toContain(GREETING);
    const option = "--settings=";
    const settings = started.words.find((word) => word.startsWith(option)) ?? "";
    expect(readFileSync(settings.slice(option.length), "utf8")).toContain("bashEditDiffEnabled");
  };

  test("starts through ssh, which joins its words for a shell there", async () => {
    // After its options, the first word is the machine.
    const options = `while case "$1" in -*) ;; *) false ;; esac; do shift; done; shift`;
    const ssh = write("ssh", `${options}; cd /; exec ${variables()} sh -c "$*"`);
    const project = `${neovim.cwd}/it's a folder`;
    mkdirSync(project, { recursive: true });
    const line = `cd '${project.replaceAll("'", `'\\''`)}' && env {env} ${inside}/claude {args}`;
    const lock = await start({
      command: [ssh, "-t", "box", line],
      relay: [ssh, "box", EXECUTABLE, "relay", "--stdio"],
    });
    await expectWords(project);
    expect(lock.content.workspaceFolders).toEqual([neovim.cwd]);
    using client = await TestClient.open(lock, "claude-code");
    expect(await client.texts("openFile", { filePath: join(neovim.cwd, "a.txt") })).toHaveLength(1);
  });

  test("starts through wsl.exe, which ends lines as Windows does", async () => {
    const wsl = write(
      "wsl.exe",
      `folder=/
      while :; do
        case "$1" in
          -d) shift 2 ;;
          --cd) folder=$2; shift 2 ;;
          --exec) shift; break ;;
          *) set -- sh -c "$*"; break ;;
        esac
      done
      cd "$folder"
      [ -t 0 ] && exec ${variables()} "$@"
      sed -u 's/$/\\r/' | ${variables()} "$@" | sed -u 's/$/\\r/'`,
    );
    const ubuntu = [wsl, "-d", "Ubuntu"];
    const lock = await start({
      command: [...ubuntu, "--cd", inside, "--exec", "env", "{env}", `${inside}/claude`, "{args}"],
      relay: [...ubuntu, "--exec", EXECUTABLE, "relay", "--stdio"],
      path_mappings: { "C:\\src\\x": neovim.cwd },
    });
    await expectWords(inside);
    // This relay does not run on Windows.
    await eventually("the problem", async () =>
      expect((await said(neovim)).join("\n")).toContain("it has no folder C:\\src\\x"),
    );
    using client = await TestClient.open(lock, "claude-code");
    const spellings = ["c:/src/x/a.txt", "C:\\src\\x\\a.txt"];
    for (const filePath of spellings)
      expect(await client.texts("openFile", { filePath })).toEqual([`Opened file: ${filePath}`]);
    const { params } = await client.message(
      ({ method, params }) => method === "selection_changed" && params?.filePath !== "",
    );
    // This is Claude's last spelling, which may have arrived before or after this frame was sent.
    expect(spellings).toContain(String(params?.filePath));
  });
});
