import { EditorRefusal } from "../editor/port";
import type { Log } from "../lib/log";
import type { Plugin } from "../neovim/plugin";
import { DisconnectedError } from "../neovim/rpc";
import { Tie } from "./binding";
import { reach } from "./find";

const ANSWER_MS = 2_000;

/**
 * The Neovim that the CLI around us works with: found at the first question, and again when it is
 * gone, so that a Neovim that restarts is followed. The CLI's hooks speak to the same one.
 */
export class FollowedNeovim {
  readonly #log: Log;
  readonly #tie: Tie;
  #plugin: Plugin | undefined;

  constructor(
    /** Where the CLI works: its project, then our working folder, which is the CLI's. */
    readonly places: readonly string[],
    log: Log,
    cliPid: number,
  ) {
    this.#log = log;
    this.#tie = new Tie(cliPid);
  }

  /** Runs a method of the plugin. Rejects with EditorBusyError or EditorRefusal. */
  async ask(method: string, params: object): Promise<unknown> {
    const plugin = this.#current();
    if (plugin) {
      try {
        return await plugin.call(method, params, ANSWER_MS);
      } catch (error) {
        if (!(error instanceof DisconnectedError)) throw error;
      }
    }
    const reached = await reach(this.places, method, params, this.#log, this.#tie);
    if (!reached) throw new EditorRefusal(this.#nobody());
    this.#plugin = reached.plugin;
    return reached.value;
  }

  #current(): Plugin | undefined {
    const plugin = this.#plugin;
    if (!plugin || plugin.closed) return undefined;
    const tied = this.#tie.address();
    if (!tied || tied === plugin.address) return plugin;
    plugin.close();
    return undefined;
  }

  close(): void {
    this.#plugin?.close();
  }

  #nobody(): string {
    return (
      `No Neovim with claude-code.nvim is open for ${this.places[0]}. ` +
      "Open the project in Neovim (and run :ClaudeCodeStart if the server is stopped), then try again."
    );
  }
}
