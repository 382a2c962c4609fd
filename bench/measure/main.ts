import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LanguageProject } from "../../test/language/world";
import { NEWEST, ROOT } from "../../test/support/neovim";
import { CODE_BASES, type CodeBase, copyCodeBase, git } from "./code-bases";
import { grepCharacters, symbolsOf, type TrueSymbol } from "./truth";

/* See scripts/measure-tools. */

const SERVER = [join(ROOT, "node_modules/.bin/typescript-language-server"), "--stdio"];
const WARM = 5;
/** What is asked so long after a server attached must say if it is not whole (ms). */
const COLD_MS = [100, 1_000, 5_000];
const READY_MS = 120_000;

interface Answer {
  text: string;
  uses: number;
  lines: Set<string>;
  isComplete: boolean;
  isError: boolean;
  ms: number;
}

interface Figures {
  symbols: number;
  recall: number;
  precision: number;
  common: number;
  unique: number;
  p50: number;
  p95: number;
  server: number;
  standstill: number;
  unflagged: number;
  asked: number;
}

async function ask(world: LanguageProject, symbol: TrueSymbol): Promise<Answer> {
  const { name, path, line } = symbol;
  const began = performance.now();
  const args = { symbol: name, path, line };
  const { text, isError } = await world.ask("find_references", args);
  const ms = performance.now() - began;
  return {
    text,
    isError,
    ms,
    uses: Number(/: (\d+) uses?\b/.exec(text)?.[1] ?? 0),
    lines: linesOf(text),
    isComplete: /\ncomplete: /.test(text),
  };
}

/** The places that an answer shows, with their code or without. */
function linesOf(text: string): Set<string> {
  const lines = new Set<string>();
  let file = "";
  for (const line of text.split("\n")) {
    const also = /^ {2}… also ([\d, ]+)/.exec(line)?.[1];
    const short = /^(src\/\S+): ([\d, ]+)/.exec(line);
    const numbers = also ?? short?.[2] ?? /^ {2}(\d+) /.exec(line)?.[1] ?? "";
    if (/^src\/\S+$/.test(line)) file = line;
    for (const number of numbers.match(/\d+/g) ?? []) lines.add(`${short?.[1] ?? file}:${number}`);
  }
  return lines;
}

/** The longest time for which Neovim's event loop does not come round, in ms. */
const WITNESS = `
  local longest, last = 0, vim.uv.hrtime()
  local timer = vim.uv.new_timer()
  timer:start(0, 1, function()
    local now = vim.uv.hrtime()
    longest, last = math.max(longest, (now - last) / 1e6), now
  end)
  _G.standstill = function()
    local found = longest
    longest, last = 0, vim.uv.hrtime()
    return found
  end`;

const SERVER_TIME = `
  local path, line, name = ...
  local buf = vim.fn.bufadd(path)
  local text = vim.api.nvim_buf_get_lines(buf, line - 1, line, false)[1]
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    position = { line = line - 1, character = text:find(name, 1, true) - 1 },
    context = { includeDeclaration = true },
  }
  local began = vim.uv.hrtime()
  vim.lsp.buf_request_sync(buf, "textDocument/references", params, 10000)
  return (vim.uv.hrtime() - began) / 1e6`;

async function open(base: CodeBase): Promise<LanguageProject> {
  const world = await LanguageProject.open(NEWEST, () => ({ typescript: SERVER }), {});
  copyCodeBase(base, world.project.folder);
  return world;
}

const quantile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
const ratio = (a: number, b: number) => (b === 0 ? 1 : a / b);

async function measure(base: CodeBase): Promise<Figures> {
  let unflagged = 0;
  let asked = 0;
  let symbols: TrueSymbol[] = [];
  const judge = (answer: Answer, uses: number) => {
    asked++;
    if (answer.isComplete && answer.uses < uses) {
      unflagged++;
      console.error(`unflagged: ${answer.uses} of ${uses}\n${answer.text.slice(0, 300)}`);
    }
  };
  for (const ms of COLD_MS) {
    await using world = await open(base);
    symbols = symbols.length > 0 ? symbols : symbolsOf(world.project.folder);
    const symbol = symbols.find(({ uses }) => uses > 10) as TrueSymbol;
    await world.project.neovim.command(`edit ${world.project.path(symbol.path)}`);
    await Bun.sleep(ms);
    judge(await ask(world, symbol), symbol.uses);
  }
  await using world = await open(base);
  const { neovim, folder } = world.project;
  await neovim.lua(WITNESS);
  const [first] = symbols as [TrueSymbol];
  const limit = Date.now() + READY_MS;
  while (!(await ask(world, first)).isComplete && Date.now() < limit) await Bun.sleep(500);
  await Bun.sleep(30_000);
  let [found, wanted, right, shown] = [0, 0, 0, 0];
  const times: number[] = [];
  const own: number[] = [];
  const common: number[] = [];
  const unique: number[] = [];
  let standstill = 0;
  for (const symbol of symbols) {
    const answer = await ask(world, symbol);
    judge(answer, symbol.uses);
    if (answer.isError) console.error(`${symbol.name}: ${answer.text}`);
    if (answer.isComplete) {
      found += Math.min(answer.uses, symbol.uses);
      wanted += symbol.uses;
      shown += answer.lines.size;
      right += [...answer.lines].filter((line) => symbol.lines.has(line)).length;
    }
    const share = ratio(answer.text.length, grepCharacters(folder, symbol.name));
    (symbol.words >= 2 * (symbol.uses + 1) ? common : unique).push(share);
    await neovim.lua("return standstill()");
    for (let i = 0; i < WARM; i++) {
      times.push((await ask(world, symbol)).ms);
      standstill = Math.max(standstill, await neovim.lua<number>("return standstill()"));
      const at = [world.project.path(symbol.path), symbol.line, symbol.name];
      own.push(await neovim.lua<number>(SERVER_TIME, ...at));
      await neovim.lua("return standstill()");
    }
  }
  const symbol = symbols.find(({ path, uses }) => path.endsWith(".ts") && uses > 2) as TrueSymbol;
  const importer = `import { ${symbol.name} } from "./${symbol.path.slice(4, -3)}";\nexport const measured = ${symbol.name};\n`;
  const isExported = new RegExp(`export[^\\n]*\\b${symbol.name}\\b`).test(
    readFileSync(world.project.path(symbol.path), "utf8"),
  );
  if (isExported) {
    world.project.write("src/measured.ts", importer);
    judge(await ask(world, symbol), symbol.uses + 2);
    Bun.spawnSync(["sed", "-i", "$ s/$/ void measured;/", "src/measured.ts"], { cwd: folder });
    const again = `\nexport const twice = ${symbol.name};\n`;
    Bun.spawnSync(["sh", "-c", `printf '${again}' >> src/measured.ts`], { cwd: folder });
    judge(await ask(world, symbol), symbol.uses + 3);
    git(folder, "add", "-A");
    git(folder, "commit", "-qm", "two");
    git(folder, "checkout", "-q", "HEAD~1");
    git(folder, "checkout", "-q", "-");
    judge(await ask(world, symbol), symbol.uses + 3);
  }
  const mean = (values: number[]) =>
    ratio(
      values.reduce((sum, one) => sum + one, 0),
      values.length,
    );
  return {
    symbols: symbols.length,
    recall: ratio(found, wanted),
    precision: ratio(right, shown),
    common: mean(common),
    unique: mean(unique),
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    server: quantile(own, 0.5),
    standstill,
    unflagged,
    asked,
  };
}

function row(name: string, figures: Figures): string {
  const { recall, precision, common, unique, p50, p95, server, standstill } = figures;
  const cells = [
    name.padEnd(17),
    String(figures.symbols).padStart(7),
    recall.toFixed(3).padStart(7),
    precision.toFixed(3).padStart(10),
    `${common.toFixed(2)} ${unique.toFixed(2)}`.padStart(10),
    `${Math.round(p50)} ${Math.round(p95)}`.padStart(8),
    String(Math.round(server)).padStart(7),
    standstill.toFixed(0).padStart(6),
    `${figures.unflagged}/${figures.asked}`.padStart(6),
  ];
  return `    ${cells.join("").trimEnd()}`;
}

const HEAD = [
  "    code base        symbols recall precision  of grep  p50 p95 server still silent",
];

function gates({ recall, precision, common, unflagged }: Figures): string[] {
  return [
    ...(recall < 0.98 ? [`recall ${recall}`] : []),
    ...(precision < 1 ? [`precision ${precision}`] : []),
    ...(common > 0.4 ? [`${common} of grep's characters on common names`] : []),
    ...(unflagged > 0 ? [`${unflagged} incomplete answers that did not say so`] : []),
  ];
}

const names = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const bases = CODE_BASES.filter(({ name }) => names.length === 0 || names.includes(name));
const rows: string[] = [];
const missed: string[] = [];
console.log(HEAD.join("\n"));
for (const base of bases) {
  const figures = await measure(base);
  rows.push(row(base.version ? `${base.name} ${base.version}` : base.name, figures));
  console.log(rows.at(-1));
  missed.push(...gates(figures).map((gate) => `${base.name}: ${gate}`));
}
for (const gate of missed) console.error(`gate missed: ${gate}`);
if (process.argv.includes("--write") && missed.length === 0) {
  const path = join(ROOT, "scripts/docs/claude-code.txt");
  const table = [...HEAD, ...rows].join("\n");
  const text = readFileSync(path, "utf8");
  writeFileSync(
    path,
    text.replace(/( {4}code base {8}symbols[^\n]*\n)(?: {4}\S[^\n]*\n)+/, `${table}\n`),
  );
}
process.exit(missed.length > 0 ? 1 : 0);
