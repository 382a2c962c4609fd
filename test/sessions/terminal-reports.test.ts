import { readFileSync, writeFileSync } from "node:fs";
import * as fc from "fast-check";
import { eventually, NEOVIMS, perBlock, rows, type SessionRow, TestNeovim } from "#test";
import { join } from "../../src/lib/platform";

/*
 * A program's reports to the terminal it runs in (OSC 7501). Reports are untrusted: whatever comes
 * changes the session's row and nothing else.
 */

const base64 = (text: string) => Buffer.from(text).toString("base64");
const report = (body: string) => `\x1b]7501;${body}\x1b\\`;
const working = (text: string) => report(`state=working:app=claude-code:msg=${base64(text)}`);

/** "STATE:MESSAGE :MORE" as a sequence; an escape in the message is that of JSON. */
function sequence(written: string): string {
  const [, state, message, more = ""] = /^(\w+)(?::(.*?))?(?: (:\S+))?$/.exec(written) ?? [];
  const app = more.includes("app=") || state === "clear" ? "" : ":app=claude-code";
  const text = message && `:msg=${base64(JSON.parse(`"${message}"`))}`;
  return report(`state=${state}${app}${text ?? ""}${more}`);
}

describe.each(NEOVIMS)("a CLI that reports to its terminal in Neovim $name", (version) => {
  let runs = 0;

  const neovim = perBlock(() => TestNeovim.start({ version, setup: "{ auto_start = false }" }));

  /** Runs a shell's script in a session's hidden terminal. */
  const start = (script: string) =>
    neovim.lua(
      `
      local command = { "sh", "-c", ... }
      rows = require("port").session_rows
      for _, row in ipairs(rows.list()) do rows.remove(row.n) end
      local buf, n = vim.api.nvim_create_buf(false, true), rows.add({})
      rows.set(n, { buf = buf })
      vim.api.nvim_buf_call(buf, function()
        if vim.fn.has("nvim-0.11") == 1 then
          vim.fn.jobstart(command, { term = true })
        else
          vim.fn.termopen(command)
        end
      end)`,
      script,
    );

  /** Makes the terminal's program write these bytes at once, and waits until Neovim has seen them. */
  async function write(bytes: string | Buffer): Promise<SessionRow> {
    const file = join(neovim.cwd, `bytes-${runs++}`);
    writeFileSync(file, bytes);
    await start(`cat ${file}; printf '\\033[2J\\033[Hthe end'; exec sleep 30`);
    await neovim.until(
      "the end of the output",
      `
        local text = vim.api.nvim_buf_get_lines(rows.get(1).buf, 0, 1, false)[1]
        return text ~= nil and text:find("the end") ~= nil`,
    );
    return neovim.lua<SessionRow>("return rows.get(1)");
  }

  test("is answered when it asks, in the bytes of its question", async () => {
    const answer = join(neovim.cwd, "answer");
    await start(`stty raw -echo; printf '\\033]7501;?\\033\\\\'; head -c 10 > ${answer}; sleep 30`);
    await eventually("the answer", () => readFileSync(answer, "latin1").length === 10);
    expect(readFileSync(answer, "latin1")).toBe("\x1b]7501;?\x1b\\");
  });

  test.each(
    rows(String.raw`
      idle | idle | idle
      what it does | working:Reading a.txt | working:Reading a.txt
      a permission it asks for | blocked:approve Bash :kind=permission | blocked/permission:approve Bash
      the end of a turn | done | done
      an error | error | error
      the last report | working:one; idle | idle
      nothing any more | working:one; clear | undefined
      nothing of a part | working:one; done :id=a | working:one
      nothing of another program | done :app=crush | undefined
      nothing of an unknown state | dreaming | undefined
      nothing that was cut | working :app=claude | undefined
      one line without control characters | working:a\nb\tc\u001b[31m\u009b1md\u0000\u007f\u202e\u2066e | working:a b c [31m 1md e
      a message that is too long, cut | working:${"ä".repeat(300)} | working:${"ä".repeat(200)}
      no message that is not base64 | working :msg=%%% | working`),
  )("says %s", async (_, reports = "", expected) => {
    const { state, kind, msg } = await write(reports.split("; ").map(sequence).join(""));
    expect(`${state}${kind ? `/${kind}` : ""}${msg ? `:${msg}` : ""}`).toBe(expected as string);
  });

  test("ignores a sequence that is longer than allowed", async () => {
    // Neovim 0.10 passes the beginning on.
    expect((await write(working("x".repeat(3_100)))).msg).toBeUndefined();
  });

  test("is idle once the user has seen the finished turn", async () => {
    expect((await write(report("state=done:app=claude-code"))).state).toBe("done");
    const seen = await neovim.lua(`
      vim.cmd.doautocmd("FocusLost")
      vim.cmd.sbuffer(rows.get(1).buf)
      local states = { rows.get(1).state }
      vim.cmd.doautocmd("FocusGained")
      table.insert(states, rows.get(1).state)
      vim.cmd.close()
      return states`);
    expect(seen).toEqual(["done", "idle"]);
  });

  test("changes a row and nothing else, whatever it writes", async () => {
    const word = fc.oneof(
      fc.constantFrom("state", "app", "kind", "msg", "id", "progress", "title", "?", "clear"),
      fc.constantFrom("claude-code", "idle", "working", "blocked", "permission", "auth"),
      fc.string({ maxLength: 20, unit: "binary" }),
      fc.base64String({ maxLength: 60 }),
    );
    const sequence = fc
      .array(fc.tuple(word, fc.constantFrom("=", ":", ";", "", "\x07", "\x1b\\", "\x18"), word), {
        maxLength: 12,
      })
      .map((parts) => `\x1b]7501;${parts.flat().join("")}`);
    const written = fc.sample(fc.tuple(sequence, fc.constantFrom("\x1b\\", "\x07", "")), {
      numRuns: 300,
      seed: Number(process.env.CLAUDE_CODE_NVIM_FUZZ_SEED ?? 1),
    });
    const before = await untouched();
    await neovim.lua(`
      happened = {}
      vim.api.nvim_create_autocmd("User", {
        group = vim.api.nvim_create_augroup("test", { clear = true }),
        pattern = "ClaudeCodeSessionChanged",
        callback = function(event) table.insert(happened, event.data.session) end,
      })`);
    const file = join(neovim.cwd, "hostile");
    // CAN ends whatever sequence is open.
    writeFileSync(file, `${written.flat().join("")}\x18\x1b\\${working("the end")}`);
    await start(`cat ${file}; exec sleep 30`);
    await neovim.until("the end of the output", `return rows.get(1).msg == "the end"`);
    for (const row of await neovim.lua<SessionRow[]>("return happened")) {
      expect(["idle", "working", "blocked", "done", "error", undefined]).toContain(row.state);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
      expect(row.msg ?? "").not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
      expect((row.msg ?? "").length).toBeLessThanOrEqual(200);
    }
    expect(await untouched()).toEqual(before);
  });

  const untouched = () =>
    neovim.lua(`
      return {
        vim.v.errmsg, vim.api.nvim_exec2("messages", { output = true }).output,
        #vim.api.nvim_list_wins(), vim.api.nvim_get_mode().mode, vim.fn.getreg('"'),
        #vim.tbl_filter(function(buf)
          return vim.bo[buf].buftype ~= "terminal"
        end, vim.api.nvim_list_bufs()),
      }`);
});
