import { rmSync } from "node:fs";
import { loopback } from "../scripts/tests/network";
import { Neovim } from "../test/genuine/neovim";
import { claudeEnv, newUser } from "../test/support/claude-home";
import { Model } from "../test/support/model";
import { NEWEST } from "../test/support/neovim";
import { claudeCli } from "../test/support/toolchain";
import { say } from "../test/support/turns";
import { resident } from "./editor";
import { median, type Scenario, type Values } from "./scenario";

/** The genuine CLI in Neovim with our mod; the floor is one without. This file runs itself in a network of its own. */
export const cli: Scenario = {
  name: "cli",
  floor: async () => inNetwork("false"),
  measure: async (_, subject) => ({ values: subject.hook ? inNetwork("true") : {} }),
};

function inNetwork(mod: string): Values {
  const command = [...loopback().command, process.execPath, import.meta.path, mod];
  return JSON.parse(Bun.spawnSync(command, { stderr: "inherit" }).stdout.toString());
}

async function values(mod: string): Promise<Values> {
  const { root, home, project } = await newUser({ "a.lua": "" });
  using model = new Model();
  const setup = `{ terminal = { command = [[${claudeCli()}]], mod = ${mod} } }`;
  const at = { project, home, env: claudeEnv(home, model.url), files: ["a.lua"], setup };
  const neovim = await Neovim.start({ version: NEWEST, ...at });
  const lua = (code: string) => neovim.lua<number>(`local port = require("port") ${code}`);
  const until = (what: string) => `vim.wait(15000, function() return ${what} end, 2)`;
  const start = await lua(`${until("port.server.state == 'ready'")}
    local began = vim.uv.hrtime()
    vim.cmd("Claude") ${until("vim.fn.search('^❯', 'nw') > 0")}
    return (vim.uv.hrtime() - began) / 1e6`);
  const isReady = `port.mod.has(1) == ${mod} and port.session_rows.get(1).connected`;
  const pid = await lua(`${until(isReady)} vim.wait(2000) return vim.b.terminal_job_pid`);
  const memory = resident(pid);
  const prompts: number[] = [];
  for (let i = 0; i < 5; i++) {
    model.script([say("Yes.")]);
    const sent = performance.now();
    await lua("vim.cmd('Claude send! x') return 1");
    await model.nextRequest();
    prompts.push(performance.now() - sent);
    await lua("vim.wait(1000) return 1");
  }
  await neovim.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  return { cli: start, prompt: median(prompts), "memory-cli": memory };
}

if (import.meta.main) process.stdout.write(JSON.stringify(await values(`${process.argv[2]}`)));
