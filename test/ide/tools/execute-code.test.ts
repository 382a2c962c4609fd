import { describe, expect, test } from "bun:test";
import { TestClient } from "../../support/client";
import { eventually } from "../../support/eventually";
import { onEachNeovim } from "../../support/session";

const alive = (marker: string) =>
  Bun.spawnSync(["pgrep", "-f", marker]).stdout.toString().trim() !== "";

/** Elsewhere the process group alone is ended, as SECURITY.md says. */
function hasProc(): boolean {
  if (process.platform === "linux") return true;
  console.log("platform skip: what leaves the process group is found by Linux's /proc");
  return false;
}

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

      test("takes the default language when none is named", async () => {
        const answer = await session.client.call("executeCode", { code: "print(6 * 7)" });
        expect(answer.content[0]?.text).toBe("42\n");
      });

      test("a failing run is an error with its exit code", async () => {
        const answer = await run("echo partial; exit 3");
        expect(answer).toMatchObject({ isError: true });
        expect(answer.content.map(({ text }) => text)).toEqual(["partial\n", "Exit code 3."]);
      });

      test("what a run leaves behind does not outlive it", async () => {
        const marker = `8${process.pid}${Math.floor(Math.random() * 1e6)}`;
        expect((await run(`sleep ${marker} >/dev/null 2>&1 & echo done`)).content[0]?.text).toBe(
          "done\n",
        );
        await eventually("it is gone", () => !alive(`sleep ${marker}`));
      });

      test("output over the limit is cut, and said so", async () => {
        const answer = await run("yes äöü | head -c 100000");
        const text = answer.content[0]?.text ?? "";
        expect(text).toMatch(/\[\d+ more bytes dropped\]$/);
        expect(text).not.toContain("\uFFFD");
        expect(text.length).toBeLessThan(5_000);
      });

      test("output keeps its byte order mark", async () => {
        const answer = await run("printf '\\357\\273\\277out'; printf '\\357\\273\\277err' >&2");
        expect(answer.content.map(({ text }) => text)).toEqual(["\uFEFFout", "stderr:\n\uFEFFerr"]);
      });

      test("a cancelled run ends and is not answered", async () => {
        const marker = `9${process.pid}${Math.floor(Math.random() * 1e6)}`;
        session.client.send({
          jsonrpc: "2.0",
          id: "cancel-me",
          method: "tools/call",
          params: { name: "executeCode", arguments: { code: `sleep ${marker}`, language: "sh" } },
        });
        await eventually("it runs", () => alive(`sleep ${marker}`));
        session.client.notify("notifications/cancelled", { requestId: "cancel-me" });
        await eventually("it is gone", () => !alive(`sleep ${marker}`));
        await session.client.request("ping");
        expect(session.client.received.some(({ id }) => id === "cancel-me")).toBe(false);
      });

      test("a program that is not there is named", async () => {
        const answer = await run("x", "missing");
        expect(answer.isError).toBe(true);
        expect(answer.content[0]?.text).toContain("no-such-program");
      });

      test("an unknown language is refused with those there are", async () => {
        const error = await run("x", "cobol").catch((e) => e);
        expect(error.code).toBe(-32602);
        expect(error.message).toContain("python");
      });
    });
  },
  {
    setup: `{ execute_code = { enabled = true, max_output_bytes = 2000, languages = {
      sh = { "sh", "-s" }, python = { "python3", "-" }, missing = { "no-such-program" } } } }`,
  },
);

onEachNeovim(
  (session) => {
    test("executeCode: an overrun is killed with everything it started, daemons included", async () => {
      const marker = `7${process.pid}${Math.floor(Math.random() * 1e6)}`;
      const code = `sleep ${marker} & setsid sleep ${marker} & (setsid sh -c 'sleep ${marker}' &) ; sleep ${marker}`;
      const answer = await session.client.call("executeCode", { code, language: "sh" });
      expect(answer).toMatchObject({ isError: true });
      expect(answer.content.at(-1)?.text).toContain("1000 ms");
      await eventually("all of them gone", () => !alive(`sleep ${marker}`));
    });

    const escapes: [string, (sleep: string) => string][] = [
      ["an empty environment", (sleep) => `setsid env -i /bin/${sleep} &`],
      ["a variable taken out", (sleep) => `env -u CLAUDE_CODE_NVIM_RUN setsid ${sleep} &`],
      [
        "a daemon twice removed",
        (sleep) => `(env -i setsid /bin/sh -c '(setsid /bin/${sleep} &) & exit' &)`,
      ],
      [
        "one that starts another all the time",
        (sleep) => `env -i setsid sh -c 'while :; do setsid ${sleep} & sleep 0.005; done' &`,
      ],
    ];
    test.each(escapes)(
      "executeCode: %s outlives neither the end nor the time-out",
      async (_n, go) => {
        if (!hasProc()) return;
        for (const rest of ["sleep 0.1", "sleep 50"]) {
          const marker = `6${process.pid}${Math.floor(Math.random() * 1e6)}`;
          const code = `${go(`sleep ${marker}`)}\n${rest}`;
          await session.client.call("executeCode", { code, language: "sh" });
          expect(alive(`sleep ${marker}`)).toBe(false);
        }
      },
    );

    test("executeCode: runs side by side end by themselves, and leave nothing together", async () => {
      if (!hasProc()) return;
      const marker = `5${process.pid}${Math.floor(Math.random() * 1e6)}`;
      const run = (code: string) => session.client.call("executeCode", { code, language: "sh" });
      const [first, second] = await Promise.all([
        run(`env -i setsid /bin/sleep ${marker} & sleep 0.1; echo one`),
        run(`sleep 0.4; echo two`),
      ]);
      expect([first, second].map(({ content }) => content[0]?.text)).toEqual(["one\n", "two\n"]);
      expect(alive(`sleep ${marker}`)).toBe(false);
    });

    test("executeCode: a run of an executable that is killed ends when the next one starts", async () => {
      if (!hasProc()) return;
      const marker = `4${process.pid}${Math.floor(Math.random() * 1e6)}`;
      const code = `setsid sleep ${marker} & sleep ${marker}`;
      using client = await TestClient.open(session.lock);
      client.call("executeCode", { code, language: "sh" }).catch(() => {});
      await eventually("it runs", () => alive(`sleep ${marker}`));
      const pid = await session.neovim.lua<number>(`return require("port").server.process.pid`);
      process.kill(pid, "SIGKILL");
      await eventually("it is gone", () => !alive(`sleep ${marker}`));
    });
  },
  {
    setup: `{ execute_code = { enabled = true, timeout_ms = 1000, languages = { sh = { "sh", "-s" } } } }`,
  },
);
