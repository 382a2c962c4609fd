import { claudeFolder } from "../claude/config-dir";
import { folderSetup, settingsPaths } from "../claude/settings-files";
import type { EditorPort } from "../editor/methods";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { PathWatch, watchProblem } from "../lib/path-watch";
import { realPath, stateFolder } from "../lib/paths";
import { join } from "../lib/platform";
import { makePrivateFolder } from "../lib/private-folder";
import type { Answer } from "../lib/requests";
import { ReviewService } from "./service";
import { countsOf } from "./state/entry";
import type { ReviewSummary } from "./summary";
import type { EndedCall } from "./unrecorded";

/** Events come in bursts, so we wait this long for more of them. */
const DEBOUNCE_MS = 80;

/** How often to check for processes that commands left running, and for a git that fails. */
const RECHECK_MS = 5_000;

/** The process of a killed CLI ends within this time after its connection. */
const GONE_MS = 1_000;

/** Without hooks, git ends within this time after the user closes the message. */
const COMMIT_MS = 1_500;

/** After these methods, Neovim no longer shows the last report. */
const CHANGING = new Set(["keep", "undo", "back", "done", "written"]);

/** The summary while the review cannot be read. */
const NOTHING = {
  ...{ counts: countsOf([]), incomplete: true, comments: [], waits: true, runs: false },
  ...{ version: "", watched: [], again: undefined, overlaps: [] },
};

/** Answers Neovim's requests `review/…`, and reports changes to it. */
export class ReviewEndpoint {
  readonly #service = new ReviewService();
  readonly #watch = new PathWatch(() => this.#soon());
  #timer: Timer | undefined;
  #timerAt = 0;
  #reports = false;
  #reported: Promise<void> = Promise.resolve();
  #sent = "";

  constructor(
    private readonly editor: Pick<EditorPort, "state" | "on" | "call">,
    private readonly log: Log,
  ) {
    this.#service.follow(editor.state.folders);
    editor.on("state", ({ folders }) => {
      if (!folders) return;
      this.#service.follow(folders);
      this.#soon();
    });
  }

  /** Starts the reports. Requests are always answered. */
  start(): void {
    this.#reports = true;
    this.#soon();
  }

  /** A client has connected or disconnected. A turn may have ended for which no hook runs. */
  clientsChanged(): void {
    this.#soon(GONE_MS);
  }

  /** A call has ended, and its hooks have run. `folder` is the folder in which its CLI was started. */
  ended(folder: string, call: EndedCall): void {
    this.#service.ended(folder, call).then(
      () => this.#soon(),
      (error) => this.log.warn(`The review may lack a call: ${message(error)}`),
    );
  }

  /** Gives an open commit time to finish, because it must still update the index. */
  async end(): Promise<void> {
    this.#reports = false;
    clearTimeout(this.#timer);
    this.#watch.end();
    await Promise.race([this.#service.committed(), Bun.sleep(COMMIT_MS)]);
  }

  /** Reports after `ms`, with other events of the burst. Never delays an earlier report. */
  #soon(ms = DEBOUNCE_MS): void {
    const at = Date.now() + ms;
    if (!this.#reports || (this.#timer && this.#timerAt <= at)) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // One report after the other, so that the newest is sent last. Neovim may be busy.
      this.#reported = this.#reported
        .then(() => this.#report())
        .catch((error) => this.log.warn(`The review failed: ${message(error)}`));
    }, ms);
  }

  async #report(): Promise<void> {
    if (!this.#reports) return;
    const folder = join(stateFolder(), "review");
    const found = await this.#summary(folder).catch((error) => {
      return { ...NOTHING, problems: [`Claude's changes cannot be recorded: ${message(error)}`] };
    });
    if (!this.#reports) return;
    if (found.again !== undefined) this.#soon(found.again);
    // Changes made before the watch began caused no event.
    const { folders } = this.editor.state;
    const settings = folders.flatMap((one) => settingsPaths(one, claudeFolder()));
    if (this.#watch.follow([`${folder}/`, ...settings, ...found.watched])) this.#soon();
    const setups = folders.map(folderSetup);
    const { counts, incomplete, comments, waits, runs, version, overlaps } = found;
    const problems = [watchProblem(), ...found.problems].filter((one) => one !== undefined);
    if (waits) this.#soon(RECHECK_MS);
    const seen = JSON.stringify([counts, incomplete, setups, problems, runs, version]);
    if (seen === this.#sent && overlaps.length === 0) return;
    this.#sent = seen;
    const summary: ReviewSummary = {
      counts,
      incomplete,
      setups,
      problems,
      comments,
      runs,
      overlaps,
    };
    await this.editor.call("review_changed", summary).catch((error) => {
      this.#sent = "";
      this.log.warn(`A report of the review failed: ${message(error)}`);
    });
  }

  async #summary(folder: string) {
    makePrivateFolder(folder);
    const summary = await this.#service.summary();
    const again = this.#service.remember(() => {
      const { buffers } = this.editor.state;
      return buffers.flatMap(({ loaded, path }) => (loaded && path ? [realPath(path)] : []));
    });
    return { ...summary, again };
  }

  readonly requests: Readonly<Record<string, Answer>> = Object.fromEntries(
    Object.keys(this.#service.methods).map((name) => [
      name,
      (params) => this.#service.answer(name, params),
    ]),
  );

  answered(method: string): void {
    // Neovim has the result already, so it needs a report even if the report equals the last one.
    if (CHANGING.has(method)) this.#sent = "";
    this.#soon();
  }
}
