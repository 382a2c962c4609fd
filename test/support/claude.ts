import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "../../src/lib/platform";
import { writePlugin } from "../../src/mod/plugin";
import { claudeEnv, prepareClaudeHome } from "./claude-home";
import { eventually } from "./eventually";
import type { Model } from "./model";
import { temporaryFolder } from "./neovim";
import { type Ended, run } from "./process";
import { Terminal } from "./tmux";
import { claudeCli, EXECUTABLE } from "./toolchain";

const START_TIMEOUT_MS = 40_000;
const TURN_TIMEOUT_MS = 30_000;
const HEADLESS_TIMEOUT_MS = 60_000;
/** A question ignores the keys of its first 250 ms or so (measured with Claude Code 2.1.330). */
const QUESTION_DEAF_MS = 600;
/** The wait for a key's effect, after which it is pressed again. */
const KEY_MS = 1_000;
const MAX_KEYS = 10;
const QUESTION = /Do you want to [^\n]*\?/;

/** The plugin for a CLI that no Neovim starts, as one that Neovim starts gets it. */
export function pluginArguments(): string[] {
  const folder = writePlugin(EXECUTABLE, true, temporaryFolder());
  return [`--plugin-dir=${folder}`, `--settings=${folder}/settings.json`];
}

export interface ClaudeOptions {
  project: string;
  home: string;
  model: Model;
  /** The editor's port, as a terminal inside Neovim would hand it on. */
  port?: number;
  args?: string[];
  env?: Record<string, string>;
  /** A further CLI in a home that is in use, by the name of its debug log. */
  further?: string;
}

/** The genuine CLI at its prompt, in a terminal and a home of its own. */
export class Claude {
  private constructor(
    readonly terminal: Terminal,
    private readonly log: string,
  ) {}

  static async start(options: ClaudeOptions): Promise<Claude> {
    if (!options.further) await prepareClaudeHome(options.home, options.project);
    const log = join(options.home, options.further ?? "claude-debug.log");
    await appendFile(log, "");
    const env = { ...claudeEnv(options.home, options.model.url), ...options.env };
    if (options.port !== undefined) env.CLAUDE_CODE_SSE_PORT = String(options.port);
    // Only `default` and `plan` show edits in the editor; without the flag it starts in auto mode.
    const mode = ["--permission-mode", "default", "--debug-file", log];
    const terminal = await Terminal.start({
      command: [claudeCli(), ...mode, ...(options.args ?? [])],
      cwd: options.project,
      env,
    });
    const claude = new Claude(terminal, log);
    await claude.waitForIdle(START_TIMEOUT_MS);
    return claude;
  }

  /** Types a prompt and sends it. Returns when the prompt has left the box. */
  async prompt(text: string): Promise<void> {
    // First the box is emptied: a late answer's digit may be in it.
    if (box(await this.waitForIdle()) !== "") await this.terminal.press("C-u");
    await this.terminal.type(text);
    // If Enter came together with the text, it would count as a pasted line end.
    await this.terminal.waitUntil((screen) => box(screen) === text, `prompt "${text}"`);
    await this.terminal.press("Enter");
    await this.terminal.waitUntil((screen) => box(screen) !== text, "emptied prompt box");
  }

  /** Waits until the CLI neither works nor asks: its prompt box is there and empty. */
  async waitForIdle(timeoutMs = TURN_TIMEOUT_MS): Promise<string> {
    return this.terminal.waitUntil(idle, "idle prompt of the CLI", timeoutMs);
  }

  /** Waits until the CLI asks about an edit, and makes the named choice. */
  async answer(choice: "Yes" | "No"): Promise<void> {
    const screen = await this.terminal.waitFor(QUESTION);
    const number = screen.match(new RegExp(`(\\d)\\. ${choice}\\s*$`, "m"))?.[1];
    if (!number) throw new Error(`The CLI does not offer "${choice}":\n${screen}`);
    await this.pressUntilAnswered(number);
  }

  /** Brings the CLI back to its prompt whatever a failed test left behind. */
  async recover(): Promise<void> {
    if (QUESTION.test(await this.terminal.screen())) await this.pressUntilAnswered("Escape");
    await this.waitForIdle();
  }

  private async pressUntilAnswered(key: string): Promise<void> {
    const gone = async () => !QUESTION.test(await this.terminal.screen());
    if (await untilAnswered(() => this.terminal.press(key), gone)) return;
    throw new Error(`The CLI's question ignores ${key}:\n${await this.terminal.screen()}`);
  }

  /** Waits for the CLI's own word that it is connected to the editor. */
  async waitForEditor(): Promise<void> {
    await eventually("the CLI's connection to the editor", async () => {
      const log = await readFile(this.log, "utf8");
      if (log.includes('MCP server "ide": Successfully connected')) return;
      throw new Error(await this.editorLog());
    });
  }

  /** The end of what the CLI's debug log says about the editor, for error messages. */
  async editorLog(): Promise<string> {
    const lines = (await readFile(this.log, "utf8")).split("\n");
    const about = lines.filter((line) => /"ide"|lockfile|\[IDE\]/i.test(line)).slice(-15);
    return ["The CLI says about the editor:", ...about].join("\n");
  }

  async close(): Promise<void> {
    await this.terminal.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Presses keys that answer a question of the CLI, which is on screen, until it is answered; resolves to
 * false where it never is. A second Esc or digit would mean something else to its prompt.
 */
export async function untilAnswered(
  press: () => Promise<unknown>,
  isAnswered: () => Promise<boolean>,
): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_KEYS; attempt++) {
    await Bun.sleep(QUESTION_DEAF_MS);
    if (await isAnswered()) return true;
    await press();
    if (await eventually("the answer", isAnswered, KEY_MS).catch(() => false)) return true;
  }
  return false;
}

/** `claude -p`: one prompt without a terminal. It never connects to an editor. */
export async function runHeadless(
  options: Omit<ClaudeOptions, "port">,
  prompt: string,
): Promise<Ended> {
  await prepareClaudeHome(options.home, options.project);
  await mkdir(options.project, { recursive: true });
  return run([claudeCli(), "-p", ...(options.args ?? []), "--", prompt], {
    cwd: options.project,
    env: claudeEnv(options.home, options.model.url),
    timeout: HEADLESS_TIMEOUT_MS,
  });
}

/**
 * The text in the prompt box, between two rules at the foot of the screen. Lines
 * selected in the editor, `[⧉ 3 lines selected]`, are shown before it and are not part of it.
 */
function box(screen: string): string | undefined {
  const text = screen.match(/^─+[^\n]*\n❯([^\n]*)\n─+/m)?.[1];
  return text?.replace(/^\s*\[⧉ [^\]]*\]/, "").trim();
}

function idle(screen: string): boolean {
  return box(screen) !== undefined && !screen.includes("esc to interrupt");
}
