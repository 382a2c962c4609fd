import { rmSync } from "node:fs";
import { isolatedEnv, temporaryFolder } from "../test/support/neovim";
import { type Machine, median, repetitions, type Scenario, timings } from "./scenario";

/** Claude Code's input to a hook after an edit, in a folder without a Neovim. */
const INPUT = JSON.stringify({
  session_id: "1fe2b7c4-6d8a-4b53-9df0-0a6f8f8c3a11",
  transcript_path: "/tmp/transcript.jsonl",
  cwd: "/tmp",
  permission_mode: "default",
  hook_event_name: "PostToolUse",
  tool_name: "Edit",
  tool_input: { file_path: "/tmp/a.txt", old_string: "a", new_string: "b" },
  tool_response: { filePath: "/tmp/a.txt" },
});

/** The wall time of one run of a hook, which starts as Claude Code starts it. */
export const hookRun: Scenario = {
  name: "hook",
  floor: async (machine) => ({ hook: await run(machine, [machine.bare]) }),
  async measure(machine, subject) {
    if (!subject.hook) return { values: {} };
    return { values: { hook: await run(machine, [subject.hook, "hook", "post-tool-use"]) } };
  },
};

async function run(machine: Machine, command: string[]): Promise<number> {
  const home = temporaryFolder();
  try {
    const samples = await timings(repetitions(machine, 20), async () => {
      const child = Bun.spawn(command, {
        cwd: home,
        env: isolatedEnv(home),
        stdin: Buffer.from(INPUT),
        stdout: "ignore",
        stderr: "ignore",
      });
      await child.exited;
    });
    return median(samples);
  } finally {
    rmSync(home, { recursive: true });
  }
}
