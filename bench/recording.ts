import { copyFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reviewFolder } from "../src/review/journal/folder";
import { requestComparison } from "../src/review/record/comparison-request";
import { isolatedEnv, temporaryFolder } from "../test/support/neovim";
import { type Machine, repetitions, type Scenario, type Values } from "./scenario";
import { median, quantile, timings } from "./statistics";

/** The recording must cost the same in a big repository. */
const SIZES = [10_000, 100_000];
const IN_A_FOLDER = 100;
/** Of them changed and new ones, so many each. */
const CHANGED = 20;

/** A repository of so many files, in which hooks record; the floor is git's own look at it. */
class Repository implements Disposable {
  readonly root = temporaryFolder();
  readonly home = temporaryFolder();
  readonly env: Record<string, string> = {
    ...isolatedEnv(this.home),
    CLAUDE_PROJECT_DIR: this.root,
  };

  constructor(files: number) {
    for (let i = 0; i < files; i++) {
      const folder = join(this.root, `d${Math.floor(i / IN_A_FOLDER)}`);
      if (i % IN_A_FOLDER === 0) mkdirSync(folder);
      writeFileSync(join(folder, `f${i}.txt`), `line ${i}\n`.repeat(20));
    }
    this.git("init", "-q", ".");
    this.git("add", "-A");
    this.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first");
    for (let i = 0; i < CHANGED; i++) {
      writeFileSync(join(this.root, "d0", `f${i}.txt`), `changed ${i}\n`);
      writeFileSync(join(this.root, "d0", `new${i}.txt`), `new ${i}\n`);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
    rmSync(this.home, { recursive: true, force: true });
  }

  git(...args: string[]): void {
    const env = { ...this.env, GIT_INDEX_FILE: this.index };
    const { exitCode, stderr } = Bun.spawnSync(["git", ...args], { cwd: this.root, env });
    if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  }

  index = join(this.root, ".git/index");

  /** `git add -A` into a copy of the index, as others make their trees. */
  async addAll(): Promise<void> {
    const copy = join(this.home, "index");
    copyFileSync(this.index, copy);
    const child = Bun.spawn(["git", "add", "-A"], {
      cwd: this.root,
      env: { ...this.env, GIT_INDEX_FILE: copy },
    });
    await child.exited;
  }

  async hook(program: string, args: string[], input: object): Promise<void> {
    const child = Bun.spawn([program, "hook", ...args], {
      cwd: this.root,
      env: this.env,
      stdin: Buffer.from(JSON.stringify(input)),
      stdout: "ignore",
      stderr: "ignore",
    });
    await child.exited;
  }

  /** As the executable has it, which lives in another home. */
  requestComparison(): void {
    const state = join(this.env.XDG_STATE_HOME as string, "claude-code.nvim/review");
    const folder = join(state, reviewFolder(this.root).split("/").at(-1) as string);
    mkdirSync(folder, { recursive: true });
    requestComparison(folder);
  }
}

/** Hooks that record, and the comparison of the work tree that runs beside them. */
export const recording: Scenario = {
  name: "recording",
  floor: async () => ({}),
  async measure(machine, { hook }) {
    const [values, floors]: [Values, Values] = [{}, {}];
    for (const files of hook ? SIZES : []) {
      using repository = new Repository(Math.round(files * machine.effort));
      const { ours, gits } = await comparisons(machine, repository, hook as string);
      values[`comparison-${files}`] = median(ours);
      floors[`comparison-${files}`] = median(gits);
      Object.assign(values, await hooks(machine, repository, hook as string, files));
    }
    return { values, floors };
  },
};

/** In turn with git's: what else the machine does then slows both. */
async function comparisons(machine: Machine, repository: Repository, program: string) {
  const [ours, gits]: [number[], number[]] = [[], []];
  await compare(repository, program);
  await repository.addAll();
  for (let i = repetitions(machine, 10); i > 0; i--) {
    gits.push(...(await timings(1, () => repository.addAll())));
    ours.push(...(await timings(1, () => compare(repository, program))));
  }
  return { ours, gits };
}

async function compare(repository: Repository, program: string): Promise<void> {
  repository.requestComparison();
  await repository.hook(program, ["compare", repository.root], {});
}

async function hooks(
  machine: Machine,
  repository: Repository,
  program: string,
  files: number,
): Promise<Values> {
  const path = join(repository.root, "d1/f150.txt");
  let count = 0;
  const input = (more: object) => ({
    session_id: "one",
    prompt_id: "p",
    cwd: repository.root,
    ...more,
  });
  const edits = await timings(repetitions(machine, 20), async () => {
    const before = `${count}\n`.repeat(500);
    writeFileSync(path, `${++count}\n`.repeat(500));
    utimesSync(path, count, count);
    const tool_response = { originalFile: before, structuredPatch: [] };
    const call = { tool_name: "Edit", tool_use_id: `e${count}`, tool_input: { file_path: path } };
    await repository.hook(program, ["post-tool-use"], input({ ...call, tool_response }));
  });
  const commands = await timings(repetitions(machine, 20), async () => {
    writeFileSync(path, `${++count}\n`);
    const lines = [`-${count - 1}`, `+${count}`];
    const hunks = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines }];
    const bashEditDiff = { files: [{ filePath: path, hunks }], changedFiles: [path], moreFiles: 0 };
    const call = { tool_name: "Bash", tool_use_id: `b${count}`, tool_input: { command: "sed" } };
    await repository.hook(
      program,
      ["post-tool-use"],
      input({ ...call, tool_response: { bashEditDiff } }),
    );
  });
  const prompts = await timings(repetitions(machine, 10), async () => {
    await repository.hook(program, ["user-prompt-submit"], input({ prompt: "go" }));
  });
  const all = { edit: edits, bash: commands, prompt: prompts };
  const figures = Object.entries(all).flatMap(([name, samples]) => [
    [`record-${name}-${files}-p50`, median(samples)],
    [`record-${name}-${files}-p95`, quantile(samples, 0.95)],
  ]);
  return Object.fromEntries(figures) as Values;
}
