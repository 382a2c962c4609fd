import * as v from "valibot";
import type { EditorPort } from "../editor/methods";
import { Emitter } from "../lib/emitter";
import type { Log } from "../lib/log";
import { type Answer, takes } from "../lib/requests";
import { Mods, text } from "./mods";
import { type ModServer, serveMods } from "./socket";

/** `remote` is the name of the remote that runs the session. */
const Session = v.object({ session: v.string(), remote: v.optional(v.string()) });
const WithText = v.object({ ...Session.entries, text });
const CommandLine = v.object({ ...Session.entries, command: v.string(), args: text });
const Follow = v.object({ ...Session.entries, on: v.boolean() });

/** Serves the mods inside running CLIs, and answers Neovim's requests `mod/…`. */
export class ModEndpoint {
  /** The mods of this machine or of a remote came, went, or reported usage. */
  readonly onChange = new Emitter<void>();
  /** A session that Neovim follows has written a part of an answer. */
  readonly onWritten = new Emitter<{ remote: string; session: string }>();
  /** By the name of the remote; "" is this machine. No remote reaches the mods of another place. */
  readonly #places = new Map<string, Mods>();
  readonly #server: ModServer;

  constructor(
    private readonly editor: Pick<EditorPort, "call">,
    private readonly log: Log,
    token: string,
  ) {
    const here = this.place();
    this.#server = serveMods(token, log, (...posted) => here.receive(...posted));
  }

  readonly requests: Record<string, Answer> = {
    /**
     * Answers once the prompt is in the conversation: the CLI keeps it while a turn runs or a dialog is open. Fails as
     * "dropped" if the CLI does not take it: after an interrupt, it first wants input from the terminal (2.1.332).
     */
    submit: takes(WithText, (to) => this.place(to.remote).perform(to.session, "submit", to.text)),
    /** Inserts at the cursor of the draft; fails as "dialog" while the CLI asks something. */
    fill: takes(WithText, (to) => this.place(to.remote).fill(to.session, to.text)),
    /** Replaces the draft. */
    replace: takes(WithText, (to) =>
      this.place(to.remote).atOnce(to.session, "fill", to.text, "replace"),
    ),
    draft: takes(Session, (to) => this.place(to.remote).atOnce(to.session, "draft")),
    /** Answers with the text that the command printed, if any. */
    run: takes(CommandLine, ({ session, remote, command, args }) =>
      this.place(remote).perform(session, "run", command, args),
    ),
    /** Answers with all slash commands. */
    commands: takes(Session, (to) => this.place(to.remote).atOnce(to.session, "commands")),
    stop: takes(Session, (to) => this.place(to.remote).atOnce(to.session, "stop")),
    /** Asks Claude a question that is not added to the conversation. */
    ask: takes(WithText, (to) => this.place(to.remote).perform(to.session, "ask", to.text)),
    /** Begins or ends `answer_written` for a session. */
    follow: takes(Follow, (to) => this.place(to.remote).follow(to.session, to.on)),
  };

  /** Why no mod of this machine can connect. */
  get problem(): string | undefined {
    return this.#server.problem;
  }

  place(remote = ""): Mods {
    const known = this.#places.get(remote);
    if (known) return known;
    const show = (answer: { session: string }) => {
      this.onWritten.emit({ remote, session: answer.session });
      return this.editor.call("answer_written", { ...answer, remote });
    };
    const mods = new Mods(show, this.log);
    mods.onChange.on(() => this.onChange.emit());
    this.#places.set(remote, mods);
    return mods;
  }

  /** The fields of the rows of sessions in remotes. */
  remoteRows(): object[] {
    return [...this.#places].flatMap(([remote, mods]) =>
      remote ? [...mods.rows()].map(([session, fields]) => ({ remote, session, ...fields })) : [],
    );
  }

  end(): void {
    for (const mods of this.#places.values()) mods.end();
    this.#server.stop();
  }
}
