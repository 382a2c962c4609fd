import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { first, NEOVIMS } from "#test";
import { join } from "../../src/lib/platform";
import { type ModelRequest, newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { bash, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal, START_MS } from "./in-terminal";

/* Text for a genuine CLI: by the mod, or by a paste. */

const BARE = "args = { '--bare' }";
const MANAGED = "is true in /etc/claude-code/managed-settings.json";
const NO_MOD = "its CLI has loaded no mod: it is too old or forbids mods, or :Claude log shows";
const ONLY_THEIRS = {
  "cc-plugin-sec-default@builtin": { options: { allowManagedModsOnly: true } },
};

/** CLIs without a mod, why, and whether they run no hooks either. */
const FALLBACKS: [name: string, why: string, isHookless: boolean, options: object][] = [
  [
    "the user's settings turn hooks off",
    "disableAllHooks is true in",
    ...([true, { prepare: disableHooks }] as const),
  ],
  ["--bare is given", "its CLI has --bare", true, { terminal: BARE }],
  [
    "the organization allows only its hooks",
    `allowManagedHooksOnly ${MANAGED}`,
    ...([true, { organization: { allowManagedHooksOnly: true } }] as const),
  ],
  [
    "the organization forbids folders of plugins",
    `disableSideloadFlags ${MANAGED}`,
    ...([true, { organization: { disableSideloadFlags: true } }] as const),
  ],
  [
    "the organization allows only its mods",
    NO_MOD,
    ...([false, { organization: { pluginConfigs: ONLY_THEIRS } }] as const),
  ],
  ["the executable refuses the mod", NO_MOD, false, {}],
];

function disableHooks({ HOME = "" }: Record<string, string>): void {
  writeFileSync(join(HOME, ".claude/settings.json"), '{ "disableAllHooks": true }');
}

requireNamespace();
describe.each(NEOVIMS)("text from $name", (version) => {
  const ways: [name: string, terminal: string, why: string | null][] = [
    ["the mod", "", null],
    ["a paste, as terminal.mod is off", "mod = false", "the option terminal.mod is off"],
    ["a paste, as --bare is given", BARE, "its CLI has --bare"],
  ];
  describe.each(first(2, ways))("by %s", (_, terminal, why) => {
    const claude = new InTerminal().inBlock(version, {
      files: { "main.lua": "return 1\n" },
      terminal,
    });
    const row = <T>(field: string) =>
      claude.lua<T>(`return require("claude-code").sessions()[1].${field} or vim.NIL`);
    const received = async () => newsText(await claude.model.nextRequest());
    const lastAsked = () => newsText(claude.model.requests.at(-1) as ModelRequest);
    const press = (keys: string) =>
      claude.lua(
        `vim.api.nvim_chan_send(vim.bo[require("port").session_rows.get(1).buf].channel, "${keys}") return true`,
      );
    const asks = async () => {
      await eventually(() => row("state"), "blocked");
      await claude.showing(/Do you want to proceed/);
    };

    test("arrives in order though the CLI only begins, and without a question", async () => {
      claude.model.script([say("I see one."), say("I see two.")]);
      await claude.command("Claude");
      await claude.command("Claude send! one");
      await claude.command("Claude send! two");
      expect(await received()).toMatch(/^one$/m);
      expect(await received()).toContain("two");
      await claude.showing(/I see two/);
      expect(await row("mod")).toBe(why === null || null);
      expect(await row("no_mod")).toBe(why);
      const way = why === null ? "the mod" : `paste: ${why}`;
      const status = "return table.concat(require('port').status_lines(), '\\n')";
      expect(await claude.lua<string>(status)).toContain(`Claude receives prompts by ${way}`);
    });

    test("waits in the CLI while Claude asks something, or is refused", async () => {
      claude.model.script([bash("touch made"), say("Made."), say("Later is now.")]);
      await claude.command("Claude send! make it");
      await asks();
      await claude.command("Claude send! later");
      await claude.command("stopinsert | wincmd t");
      await claude.command("1Claude comment! why 1?");
      await claude.command("Claude send a word");
      await claude.says(
        "Claude asks something in its terminal: answer it first, then send your text",
      );
      await claude.showing(/Do you want to proceed/);
      await claude.confirm(async () => (await row("state")) !== "blocked");
      await claude.showing(/Made\./);
      const comments = "require('port').comments.at(vim.fn.bufnr('main.lua'), 1).is_sent";
      if (why === null) {
        await claude.showing(/Later is now/);
        await eventually(() => claude.lua(`return ${comments}`), true);
      } else {
        expect(await claude.lua(`return ${comments}`)).toBe(false);
        await claude.command("Claude comment!");
        await claude.showing(/Later is now/);
        await eventually(() => claude.lua(`return ${comments}`), true);
      }
    });

    test("arrives after an interrupt, and with the files that it mentions", async () => {
      claude.model.script([bash("touch more"), say("Again."), say("I see the file.")]);
      await claude.command("Claude send! more");
      await asks();
      await press("\\27");
      await eventually(() => row("state"), "idle");
      await claude.command("Claude send! again");
      await claude.showing(/Again\./);
      await eventually(() => row("state"), "idle");
      await claude.command("Claude send! see @main.lua");
      await claude.showing(/I see the file/);
      // With --bare the CLI adds none (2.1.332).
      if (!why?.includes("--bare")) expect(lastAsked()).toContain("return 1");
    });

    if (why === null)
      test("keeps the order of a prompt that waits and one that mentions a file", async () => {
        claude.model.script([bash("touch third"), say("Ended."), say("I see all.")]);
        await claude.command("Claude send! third");
        await asks();
        await claude.command("Claude send! 1st");
        await claude.command("Claude send! 2nd @main.lua");
        await claude.confirm(async () => (await row("state")) !== "blocked");
        await claude.showing(/I see all/);
        expect(lastAsked()).toMatch(/1st(.|\n)*2nd/);
      });

    if (why === null)
      test("leaves alone what the user has half typed", async () => {
        claude.model.script([say("I see both.")]);
        await claude.lua("vim.cmd('wincmd t | normal! gg0v$') return true");
        await claude.command("Claude send half typed");
        await claude.lua(
          `return require("port").prompt.send("see it", { submit = true, with_selection = true })`,
        );
        await claude.showing(/I see both/);
        await claude.keys("<Esc>");
        const asked = lastAsked();
        expect(asked).toContain("see it");
        expect(asked).toContain("main.lua#L1-1");
        expect(asked).not.toContain("half typed");
        await claude.showing(/half typed/);
        await press("\\21\\21\\21");
      });

    if (why === null)
      test.each([
        ["in shell mode", "!", ""],
        ["during a search in the history", "\\18", ""],
        ["during a search in the history for a word", "\\18ag", ""],
        ["in the conversation view", "\\15", "\\15"],
      ])("arrives as a prompt or is reported %s", async (name, keys, undo) => {
        claude.model.script([say("I see a marker.")]);
        await claude.command("messages clear");
        await press(keys);
        await Bun.sleep(500);
        await claude.command(`Claude send! touch marker ${name}`);
        await eventually(async () => {
          const isReported = (await claude.messages()).includes("your text is in Claude's prompt");
          return isReported || lastAsked().includes(`touch marker ${name}`);
        }, true);
        expect(existsSync(claude.path("marker"))).toBe(false);
        await press(undo);
        await eventually(() => row("state"), "idle");
        await press("\\27");
        await Bun.sleep(500);
        await press("\\21\\21");
      });

    if (why === null)
      test("answers no question that comes while Neovim is busy", async () => {
        const rest = Promise.withResolvers<void>();
        const [call] = bash("touch made-late");
        claude.model.script([[{ text: "Working", rest: rest.promise }, ...(call ? [call] : [])]]);
        await claude.command("Claude send! begin");
        await eventually(() => row("state"), "working");
        setTimeout(rest.resolve, 500);
        await claude.lua(`
          local mod = require("port").mod
          local replace = mod.replace
          function mod.replace(...)
            replace(...)
            vim.uv.sleep(3000)
          end
          require("port").prompt.send("more", { submit = true })
          vim.wait(100)
          mod.replace = replace
          return true`);
        await asks();
        expect(existsSync(claude.path("made-late"))).toBe(false);
        await press("\\27");
        await eventually(() => row("state"), "idle");
      });

    if (why === null)
      test("waits for the mod while the executable restarts", async () => {
        claude.model.script([say("Survived.")]);
        await claude.lua(`vim.uv.kill(require("port").server.process.pid, "sigkill") return true`);
        await eventually(() => claude.lua(`return require("port").mod.has(1)`), false);
        await claude.command("Claude send! after the kill");
        await claude.showing(/Survived/);
      });

    test("runs a slash command, whose answer opens in a window if a mod has run it", async () => {
      await claude.command("stopinsert | wincmd t");
      const completed = () =>
        claude.lua<string[]>("return vim.fn.getcompletion('Claude run comp', 'cmdline')");
      await eventually(async () => (await completed()).includes("compact"), true);
      await claude.command("Claude run /context");
      const shown = () => claude.lines().then((lines) => lines.join("\n"));
      if (why === null) {
        await eventually(async () => (await shown()).includes("Context Usage"), true, START_MS);
        await claude.keys("q");
        await eventually(shown, "return 1");
        await claude.command("Claude run model");
        await claude.says("/model waits for you in Claude's terminal");
      } else await claude.showing(/Context usage/i);
    });
  });

  describe.each(first(1, FALLBACKS))("by a paste, as %s", (_, why, isHookless, options) => {
    const claude = new InTerminal().inBlock(version, {
      files: { "main.lua": "return 1\n" },
      ...options,
    });

    test("arrives without a question, and status and review say why", async () => {
      const isOld = options === FALLBACKS.at(-1)?.[3];
      if (isOld) await changeContract(claude);
      claude.model.script([say("I see one."), bash("touch made"), say("Made.")]);
      await claude.command("Claude");
      await claude.command("Claude send! one");
      expect(newsText(await claude.model.nextRequest())).toContain("one");
      await claude.showing(/I see one/);
      const status = "return table.concat(require('port').status_lines(), '\\n')";
      expect(await claude.lua<string>(status)).toContain(
        `Claude receives prompts by paste: ${why}`,
      );
      await claude.command("Claude send! make it");
      await claude.showing(/Do you want to proceed/);
      const state = `return require("claude-code").sessions()[1].state`;
      await claude.confirm(async () => (await claude.lua(state)) !== "blocked");
      await claude.showing(/Made\./);
      if (isHookless) await claude.says(` (${why}`);
      const messages = await claude.messages();
      expect(messages.includes(`Claude runs without hooks`)).toBe(isHookless);
      expect(messages).not.toContain("its CLI cannot start");
      const log = readFileSync(join(claude.home, ".local/state/nvim/claude-code.log"), "utf8");
      expect(log.includes("it has contract 0, we have 1")).toBe(isOld);
    });
  });
});

/** The executable of another version wrote the mod. */
async function changeContract(claude: InTerminal): Promise<void> {
  const plugin = () => claude.lua<string[]>(`return require("port").plugin_arguments()`);
  await eventually(async () => (await plugin()).length, 2);
  const [argument = ""] = await plugin();
  const path = join(argument.slice("--plugin-dir=".length), "hooks/register.ts");
  const text = readFileSync(path, "utf8").replace("const CONTRACT = 1;", "const CONTRACT = 0;");
  rmSync(path);
  writeFileSync(path, text);
}
