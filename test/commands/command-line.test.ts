import { readFileSync } from "node:fs";
import { claims, EXECUTABLE, needs, ROOT, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import { CONTRACT, VERSION } from "../../src/lib/version";

function run(args: string[], options: { stdin?: string; env?: Record<string, string> } = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([EXECUTABLE, ...args], {
    cwd: temporaryFolder(),
    env: { PATH: process.env.PATH ?? "", HOME: temporaryFolder(), ...options.env },
    stdin: Buffer.from(options.stdin ?? ""),
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

describe("the command line", () => {
  test.each(["--version", "-v"])("prints name and version with %s", (flag) => {
    expect(run([flag])).toEqual({
      exitCode: 0,
      stdout: `claude-code.nvim ${VERSION}\n`,
      stderr: "",
    });
  });

  needs("a shell")("ends without an error when its reader is gone", () => {
    const script = '{ sleep 0.2; "$0" --help; echo "code $?" >&2; } | true';
    const { stderr } = Bun.spawnSync(["sh", "-c", script, EXECUTABLE]);
    expect(stderr.toString()).toBe("code 0\n");
  });

  test.each(["--help", "-h"])("names every command by %s", (flag) => {
    const { exitCode, stdout } = run([flag]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Usage: claude-code-nvim");
    expect(stdout).toContain("serve");
  });

  test.each([
    [[]],
    [["frobnicate"]],
    [["--frobnicate"]],
    [["valueOf"]],
    [["__proto__"]],
    [["constructor"]],
    [["serve", "extra"]],
  ])("refuses %p with exit code 2", (args) => {
    const { exitCode, stdout, stderr } = run(args, { env: { NVIM: "/nowhere" } });
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    for (const arg of args.slice(-1)) expect(stderr).toContain(arg);
    expect(stderr).toStartWith("claude-code-nvim: ");
  });
});

test.each(["valueOf", "__proto__", "hasOwnProperty", "constructor"])(
  "prints nothing for the unknown hook %s",
  (event) => {
    const { exitCode, stdout, stderr } = run(["hook", event], { stdin: '{"session_id":"s"}' });
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(stderr).toContain("hook needs an event: session-start");
  },
);

describe("serve", () => {
  const launch = {
    contract: CONTRACT,
    version: VERSION,
    token: crypto.randomUUID(),
    pid: process.pid,
    workspaceFolders: ["/"],
  };
  const start = (line: unknown, nvim = "/no/such/socket") =>
    run(["serve"], {
      stdin: typeof line === "string" ? line : `${JSON.stringify(line)}\n`,
      env: { NVIM: nvim },
    });

  test("says without $NVIM who starts it", () => {
    const { exitCode, stderr } = run(["serve"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("$NVIM");
  });

  const wrong: [string, unknown, string][] = [
    ["nothing", "", "not JSON"],
    ["not JSON", "{nonsense\n", "not JSON"],
    ["a token that is not a UUID", { ...launch, token: "secret-token" }, "token"],
    ["a port out of range", { ...launch, port: 70_000 }, "port"],
    ["folders that are not a list", { ...launch, workspaceFolders: "/" }, "workspaceFolders"],
  ];
  test.each(wrong)("refuses a launch line with %s, and does not quote it", (_name, line, named) => {
    claims("The token is in no argument, log or error");
    const { exitCode, stderr } = start(line);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(named);
    expect(stderr).not.toContain("secret-token");
  });
});

test("has one version and contract in plugin and executable", () => {
  const lua = readFileSync(join(ROOT, "lua/claude-code/install/contract.lua"), "utf8");
  expect(Number(lua.match(/number\s*=\s*(\d+)/)?.[1])).toBe(CONTRACT);
  expect(lua.match(/version\s*=\s*"([^"]+)"/)?.[1]).toBe(VERSION);
});
