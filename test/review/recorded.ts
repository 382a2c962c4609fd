import { existsSync, readFileSync } from "node:fs";
import { eventually, isolatedEnv, shell, stateFolderOf } from "#test";
import { HookCall } from "../../src/hooks/call";
import { parseInput } from "../../src/hooks/input";
import { EVENTS } from "../../src/hooks/record";
import { Log } from "../../src/lib/log";
import { join } from "../../src/lib/platform";
import { Blobs } from "../../src/review/journal/blobs";
import { JournalReader } from "../../src/review/journal/read";
import type { Content, FileChange, JournalRecord, RecordOf } from "../../src/review/journal/record";
import { compareInTurns, requestComparison } from "../../src/review/record/comparison-request";
import { Recorder } from "../../src/review/record/recorder";
import type { Listed } from "../../src/review/service";
import { type HookResult, runHook } from "../support/hook";
import { commitAll } from "./repository";
import { TestProject } from "./state/world";

/** In the CLI's format. */
export const hunk = (
  oldStart: number,
  oldLines: number,
  newStart: number,
  newLines: number,
  ...lines: string[]
) => ({ oldStart, oldLines, newStart, newLines, lines });

/** A project in which the hooks of a Claude run without Neovim, and their records. */
export class Recorded extends TestProject {
  readonly env: Record<string, string> = {
    ...isolatedEnv(this.home),
    CLAUDE_PROJECT_DIR: this.root,
  };
  #uses = 0;

  /** With `git`, it is a repository, and the files are committed. */
  constructor(files: Record<string, string | Uint8Array> = {}, git = true) {
    super();
    const { HOME, XDG_CONFIG_HOME, CLAUDE_PROJECT_DIR } = this.env;
    this.setEnv({ HOME, XDG_CONFIG_HOME, CLAUDE_PROJECT_DIR });
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    if (git) this.git("init -q --template= .", "add -A", "commit -qm first --allow-empty");
  }

  override write(name: string, text: string | Uint8Array | undefined): string {
    return super.write(name, typeof text === "string" ? Buffer.from(text) : text);
  }

  git(...commands: string[]): void {
    const options =
      "-c user.name=a -c user.email=a@b -c commit.gpgsign=false -c maintenance.auto=false";
    this.sh(commands.map((command) => `git ${options} ${command}`).join(" && "));
  }

  sh(command: string): void {
    const done = Bun.spawnSync(shell(command), { cwd: this.root, env: isolatedEnv(this.home) });
    if (done.exitCode > 3) throw new Error(`${command}: ${done.stderr}`);
  }

  hook(event: string, input: object = {}, inputMs = 0): Promise<HookResult> {
    return this.compiled(event, input, inputMs);
  }

  /** Runs a hook of the compiled executable. */
  compiled(event: string, input: object, inputMs = 0): Promise<HookResult> {
    const [env, cwd] = [this.env, this.root];
    return runHook({ event, input: this.given(input), cwd, env, inputMs });
  }

  given(input: object): object {
    return { session_id: "one", cwd: this.root, prompt_id: "p1", ...input };
  }

  /** A prompt, and the snapshot of the work tree that is taken with it. */
  async prompt(more: object = {}): Promise<void> {
    await this.hook("user-prompt-submit", { prompt: "do it", ...more });
    await this.compared();
  }

  async stop(more: object = {}): Promise<void> {
    await this.hook("stop", { stop_hook_active: false, ...more });
    await this.compared();
  }

  /** A Neovim's request for the review, while no other request runs. */
  answer(method: string, params: object): Promise<unknown> {
    return this.another().answer(method, params);
  }

  /** Waits until no process compares the work tree. */
  async compared(): Promise<void> {
    await eventually("the comparison", () => {
      // The order matters: the process that takes the lock then removes the request.
      const isThere = (name: string) => existsSync(join(this.folder, name));
      return !isThere("compare.request") && !isThere("compare.lock");
    });
  }

  /** Claude edits a file. The tool's whole answer is in the CLI's format. */
  async edit(name: string, text: string | Uint8Array, more: object = {}): Promise<void> {
    const path = this.path(name);
    const there = Bun.file(path);
    const before = (await there.exists()) ? (await there.text()).replaceAll("\r\n", "\n") : null;
    const call = {
      tool_name: before === null ? "Write" : "Edit",
      tool_use_id: `use-${++this.#uses}`,
      tool_input: { file_path: path },
    };
    await this.hook("pre-edit", { ...call, ...more });
    this.write(name, text);
    await this.hook("post-tool-use", {
      ...call,
      tool_response: {
        ...(before === null && { type: "create" }),
        filePath: path,
        originalFile: before,
      },
      ...more,
    });
  }

  /** Claude runs a command. `bashEditDiff` is what the CLI reported for it. */
  async bash(command: string, bashEditDiff?: object): Promise<void> {
    const call = this.#call(command);
    await this.hook("pre-tool-use", call);
    const start = Date.now();
    this.sh(command);
    const duration_ms = Date.now() - start;
    const tool_response = { stdout: "", ...(bashEditDiff && { bashEditDiff }) };
    await this.hook("post-tool-use", { ...call, tool_response, duration_ms });
  }

  /**
   * Claude runs a command that fails, and the CLI reports nothing else about it. The command runs for `hookMs` before
   * the hook that reports its beginning continues.
   */
  async failing(command: string, { hookMs = 0 } = {}): Promise<void> {
    const call = this.#call(command);
    const begun = this.hook("pre-tool-use", call, hookMs);
    if (hookMs === 0) await begun;
    else await Bun.sleep(hookMs / 2);
    const start = Date.now();
    this.sh(command);
    const duration_ms = Date.now() - start;
    await begun;
    await this.hook("post-tool-use-failure", { ...call, error: "Exit code 3", duration_ms });
    await this.compared();
  }

  #call(command: string) {
    return { tool_name: "Bash", tool_use_id: `use-${++this.#uses}`, tool_input: { command } };
  }

  async turn(command: string): Promise<void> {
    await this.prompt();
    await this.failing(command);
    await this.stop();
  }

  async begin(tool_use_id = "u"): Promise<object> {
    const call = { tool_name: "Bash", tool_use_id, tool_input: { command: "x" } };
    await this.hook("pre-tool-use", call);
    return call;
  }

  override list(): Promise<Listed> {
    return this.answer("list", {}) as Promise<Listed>;
  }

  get log(): string {
    try {
      return readFileSync(join(stateFolderOf(this.home), "hooks.log"), "utf8");
    } catch {
      return "";
    }
  }

  get records(): JournalRecord[] {
    return new JournalReader(this.folder).read().records;
  }

  get changes(): RecordOf<"change">[] {
    return this.records.filter((record) => record.type === "change");
  }

  /** All file changes, each as `path: before > after`, with unabridged texts. */
  get files(): string[] {
    return this.changes.flatMap((change) => change.files.map((file) => this.#shown(file)));
  }

  #shown({ path, before, after, mode, from, symlink }: FileChange): string {
    const bits = mode?.map((one) => one.toString(8)).join(" > ");
    const more = [bits, from && `from ${from}`, symlink && "symlink"].filter(Boolean);
    const tail = more.length > 0 ? ` (${more.join(", ")})` : "";
    return `${path}: ${this.text(before)} > ${this.text(after)}${tail}`;
  }

  /** JSON of a text, or what is there instead. */
  text(content: Content): string {
    if ("absent" in content) return "absent";
    if ("withheld" in content) return content.withheld;
    const bytes = new Blobs(this.folder).get(content.blob);
    return bytes ? JSON.stringify(Buffer.from(bytes).toString("latin1")) : "gone";
  }
}

/** A file has the time of the kernel's last tick, at most this old: hooks here take less. */
const TICK_MS = 12;

/** The same, but the hooks' functions run in this process: tests their records, and not that hooks start. */
export class RecordedHere extends Recorded {
  constructor(files: Record<string, string | Uint8Array> = {}, git = true) {
    super(files, false);
    if (git) commitAll(this.root, files);
  }

  /** Prints nothing, and compares the work tree before it returns. */
  override async hook(event: string, input: object = {}): Promise<HookResult> {
    const call = new HookCall(parseInput(JSON.stringify(this.given(input))), new Log());
    const recorder = new Recorder(this.root);
    if (EVENTS[event]?.(recorder, call) === "compare") {
      requestComparison(recorder.project.folder);
      compareInTurns(recorder.project.root);
    }
    await Bun.sleep(TICK_MS);
    return { code: 0, stdout: "", stderr: "", output: undefined };
  }
}
