/** A relay that treats a second of silence as the end of Neovim's side. */
import { Log } from "../../src/lib/log";
import { runRelay } from "../../src/remote/relay";
import { Wire } from "../../src/remote/wire";

const SILENCE_MS = 1_000;

const wire = new Wire(Bun.stdin.stream(), Bun.stdout.writer());
const never = new Promise<string>(() => {});
console.error(await runRelay(wire, never, new Log(), SILENCE_MS));
process.exit();
