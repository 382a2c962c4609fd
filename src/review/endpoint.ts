import { join } from "node:path";
import { claudeFolder } from "../claude/config-dir";
import { folderSetup, settingsPaths } from "../claude/settings-files";
import type { EditorPort } from "../editor/methods";
import { message } from "../lib/errors";
import type { Log } from "../lib/log";
import { PathWatch, watchProblem } from "../lib/path-watch";
import { realPath, stateFolder } from "../lib/paths";
import { makePrivateFolder } from "../lib/private-folder";
import type { Answer } from "../lib/requests";
import { ReviewService } from "./service";
import { countsOf } from "./state/entry";
import type { ReviewSummary } from "./summary";
import type { EndedCall } from "./unrecorded";

/** Events come in bursts: wait this long after one for others. */
const DEBOUNCE_MS = 80;

/** How often it is looked whether processes still run that commands have left behind, or git still fails. */
const RECHECK_MS = 5_000;

/** How soon after the end of its connection the process of a killed CLI is gone. */
const GONE_MS = 1_000;

/** How long git takes at most once its message is closed, unless the user has hooks. */
const COMMIT_MS = 1_500;

/** Methods after which Neovim shows something else than what was reported last. */
const CHANGING = new Set(["keep", "undo", "back", "done", "written"]);

/** The summary of a review that cannot be read. It is tried again. */
const NOTHING = {
  ...{ counts: countsOf([]), incomplete: true, comments: [], waits: true, runs: false },
  ...{ version: "", watched: [], again: undefined },
};

/** Answers a Neovim's requests `review/…`, and reports to it what has changed. */
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

  /** From now on Neovim is reported to; it gets answers all the time. */
  start(): void {
    this.#reports = true;
    this.#soon();
  }

  /** A client has come or gone: a turn may have ended for which no hook will run. */
  clientsChanged(): void {
    this.#soon(GONE_MS);
  }

  /** A call has ended of a CLI that was started in `folder`: its hooks have run by now. */
  ended(folder: string, call: EndedCall): void {
    this.#service.ended(folder, call).then(
      () => this.#soon(),
      (error) => this.log.warn(`The review may lack a call: ${message(error)}`),
    );
  }

  /** A commit whose message was written may finish; its index still has to be updated. */
  async end(): Promise<void> {
    this.#reports = false;
    clearTimeout(this.#timer);
    this.#watch.end();
    await Promise.race([this.#service.committed(), Bun.sleep(COMMIT_MS)]);
  }

  /** An event waits for others of its flock; what is due earlier is not put off. */
  #soon(ms = DEBOUNCE_MS): void {
    const at = Date.now() + ms;
    if (!this.#reports || (this.#timer && this.#timerAt <= at)) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // One after the other: what an earlier one has read must not be sent last, and Neovim may be busy.
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
    // Changes between the reading and the watch were not events.
    const { folders } = this.editor.state;
    const settings = folders.flatMap((one) => settingsPaths(one, claudeFolder()));
    if (this.#watch.follow([`${folder}/`, ...settings, ...found.watched])) this.#soon();
    const setups = folders.map(folderSetup);
    // Before the answer: what changes while Neovim takes it is another event.
    const { counts, incomplete, comments, waits, runs, version } = found;
    const problems = [watchProblem(), ...found.problems].filter((one) => one !== undefined);
    if (waits) this.#soon(RECHECK_MS);
    const seen = JSON.stringify([counts, incomplete, setups, problems, runs, version]);
    if (seen === this.#sent) return;
    this.#sent = seen;
    const summary: ReviewSummary = { counts, incomplete, setups, problems, comments, runs };
    await this.editor.call("review_changed", summary).catch((error) => {
      this.#sent = "";
      this.log.warn(`A report of the review failed: ${message(error)}`);
    });
  }

  async #summary(folder: string) {
    makePrivateFolder(folder);
    const summary = await this.#service.summary();
    return { ...summary, again: this.#service.remember(() => this.#loadedFiles()) };
  }

  /** Real paths. */
  #loadedFiles(): string[] {
    const { buffers } = this.editor.state;
    return buffers.flatMap(({ loaded, path }) => (loaded && path ? [realPath(path)] : []));
  }

  readonly requests: Readonly<Record<string, Answer>> = Object.fromEntries(
    Object.keys(this.#service.methods).map((name) => [
      name,
      (params) => this.#service.answer(name, params),
    ]),
  );

  answered(method: string): void {
    // Neovim has seen the result already: what then goes back to what was reported last is news.
    if (CHANGING.has(method)) this.#sent = "";
    this.#soon();
  }
}
