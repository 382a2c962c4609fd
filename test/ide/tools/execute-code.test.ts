import { claims, eventually, onEachNeovim } from "#test";
import { type Run, runCode } from "../../../src/ide/tools/execute-code";

const alive = (marker: string) =>
  Bun.spawnSync(["pgrep", "-f", marker]).stdout.toString().trim() !== "";

const marked = (first: number) => `${first}${process.pid}${Math.floor(Math.random() * 1e6)}`;

onEachNeovim(
  (session) => {
    const run = (code: string, language = "sh") =>
      session.client.call("executeCode", { code, language });

    describe("executeCode", () => {
      test("is listed with its languages, once enabled", async () => {
        const { tools } = await session.client.request<{ tools: Record<string, unknown>[] }>(
          "tools/list",
        );
        const tool = tools.find(({ name }) => name === "executeCode");
        expect(tool?.inputSchema).toMatchObject({
          properties: { language: { enum: expect.arrayContaining(["sh", "python"]) } },
          required: ["code"],
        });
      });

      test("runs in the workspace, out of Neovim's process, and returns both outputs", async () => {
        const answer = await run("pwd; echo oops >&2");
        expect(answer.isError).toBeUndefined();
        expect(answer.content.map(({ text }) => text)).toEqual([
          `${session.neovim.cwd}\n`,
          "stderr:\noops\n",
        ]);
      });

      test("takes Python when no language is named", async () => {
        const answer = await session.client.call("executeCode", { code: "print(6 * 7)" });
        expect(answer.content[0]?.text).toBe("42\n");
      });

      test("a failing run is an error with its exit code", async () => {
        const answer = await run("echo partial; exit 3");
        expect(answer).toMatchObject({ isError: true });
        expect(answer.content.map(({ text }) => text)).toEqual(["partial\n", "Exit code 3."]);
      });

      test("what a run leaves behind does not outlive it", async () => {
        const marker = marked(8);
        expect((await run(`sleep ${marker} >/dev/null 2>&1 & echo done`)).content[0]?.text).toBe(
          "done\n",
        );
        await eventually("it is gone", () => !alive(`sleep ${marker}`));
      });

      test("output keeps its byte order mark", async () => {
        const answer = await run("printf '\\357\\273\\277out'; printf '\\357\\273\\277err' >&2");
        expect(answer.content.map(({ text }) => text)).toEqual(["\uFEFFout", "stderr:\n\uFEFFerr"]);
      });

      test("a cancelled run ends and is not answered", async () => {
        const marker = marked(9);
        const slow = { code: `sleep ${marker}`, language: "sh" };
        session.client.callAs("cancel-me", "executeCode", slow);
        await eventually("it runs", () => alive(`sleep ${marker}`));
        session.client.notify("notifications/cancelled", { requestId: "cancel-me" });
        await eventually("it is gone", () => !alive(`sleep ${marker}`));
        await session.client.request("ping");
        expect(session.client.received.some(({ id }) => id === "cancel-me")).toBe(false);
      });

      test("a program that is not there is named", async () => {
        const missing = { code: "x", language: "missing" };
        expect(await session.client.refusal("executeCode", missing)).toContain("no-such-program");
      });

      test("an unknown language is refused with those there are", async () => {
        const error = await run("x", "cobol").catch((e) => e);
        expect(error.code).toBe(-32602);
        expect(error.message).toContain("python");
      });

      test("a run ends with the executable", async () => {
        claims("Code runs only where you enable it");
        const marker = marked(4);
        const code = `sleep ${marker} & sleep ${marker}`;
        session.client.call("executeCode", { code, language: "sh" }).catch(() => {});
        await eventually("it runs", () => alive(`sleep ${marker}`));
        const pid = await session.neovim.lua<number>(`return require("port").server.process.pid`);
        process.kill(pid, "SIGTERM");
        await eventually("it is gone", () => !alive(`sleep ${marker}`));
      });
    });
  },
  {
    setup: `{ execute_code = { enabled = true, languages = {
      sh = { "sh", "-s" }, python = { "python3", "-" }, missing = { "no-such-program" } } } }`,
  },
);

describe("a run", () => {
  const LIMITS = { timeoutMs: 1_000, outputBytes: 2_000 };
  const run = (code: string, limits = LIMITS, signal = new AbortController().signal) => {
    const options: Run = { command: ["/bin/sh", "-s"], cwd: "/", signal };
    return runCode(code, options, limits);
  };

  test("over the time-out is killed with all of its process group", async () => {
    claims("Code runs only where you enable it");
    const marker = marked(7);
    const code = `sleep ${marker} & (sh -c 'trap "" HUP TERM; sleep ${marker}' &) ; sleep ${marker}`;
    expect(await run(code)).toMatchObject({ exitCode: undefined });
    await eventually("all of them gone", () => !alive(`sleep ${marker}`));
  });

  test("that leaves a daemon is answered, with what was written before", async () => {
    const { stdout, exitCode } = await run("setsid sleep 3 & echo $!; exit 4");
    expect({ stdout, exitCode }).toEqual({ stdout: expect.stringMatching(/^\d+\n$/), exitCode: 4 });
    process.kill(Number(stdout), "SIGKILL");
  });

  test("is a session of its own, so that it ends nobody else", async () => {
    const { stdout } = await run("ps -o sid= -p $$; echo $$");
    const [session, pid] = stdout.trim().split(/\s+/);
    expect(session).toBe(pid as string);
  });

  test("that writes more than the limit is stopped", async () => {
    const { stdout, exitCode } = await run("yes äöü");
    expect(exitCode).toBeUndefined();
    expect(stdout).toStartWith("äöü\näöü\n");
    expect(Buffer.byteLength(stdout)).toBeLessThan(200_000);
  });

  test("has all that it wrote up to the limit", async () => {
    const { stdout } = await run("yes | head -c 1000000", { ...LIMITS, outputBytes: 1_000_000 });
    expect(stdout).toHaveLength(1_000_000);
  });

  test("whose program does not read the code is no failure", async () => {
    const { signal } = new AbortController();
    const options: Run = { command: ["/bin/sh", "-c", "exit 0"], cwd: "/", signal };
    expect(await runCode("#".repeat(1_000_000), options)).toMatchObject({ exitCode: 0 });
  });
});
