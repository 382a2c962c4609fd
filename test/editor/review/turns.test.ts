import { World } from "#review";
import { ALL, eventually, first, nightly, onEachNeovim, oneLine } from "#test";

const OLD = Array.from({ length: 60 }, (_, i) => `  print("line ${i + 1}")\n`).join("");
const CLAUDE = OLD.replaceAll(/print\("line (\d*5)"\)/g, 'log.info("$1")\n  log.flush()');
/** Hunks that are decided one by one, at the speed at which a user types. */
const [PACED_HUNKS, KEY_MS] = [Number(process.env.PACED_HUNKS ?? (ALL ? 20 : 10)), 30];
/** Hunks of a file, and of how many files. */
const [HUNKS, FILES] = [6, 2];

/** Decisions that are requested faster than they are made. */
onEachNeovim((session) => {
  let world: World;
  let tests = 0;
  const names = () => Array.from({ length: FILES }, (_, i) => `turns${tests}/${i}.py`);
  const nvim = () => session.neovim;
  const lua = <T>(code: string, ...args: unknown[]) => nvim().lua<T>(code, ...args);
  const plays = (script: string) => nvim().plays(script);
  const texts = () => names().map((name) => world.read(name));
  const waiting = async () => (await world.list()).counts.hunks;
  const busy = (is: boolean) => {
    world.record({ type: "prompt", session: `T${tests}`, prompt: "p", text: "go on" });
    if (!is) world.stop(`T${tests}`);
  };

  beforeAll(() => {
    world = new World(nvim().cwd, nvim().home);
  });
  afterAll(() => world[Symbol.dispose]());
  beforeEach(async () => {
    tests += 1;
    await lua(`
      vim.cmd.messages("clear")
      vim.o.timeoutlen = 100
      vim.o.hidden = true
      pcall(vim.cmd, "silent! Claude review close")
      vim.cmd("silent! wall | only")
      vim.fn.setqflist({}, "f")`);
    await world.service.answer("done", {});
    for (const name of names()) world.write(name, OLD);
    world.claude(Object.fromEntries(names().map((name) => [name, CLAUDE])), {
      session: `T${tests}`,
    });
  });

  const review = (command = "Claude review") => plays(`:${command}  list ${HUNKS * FILES}`);
  const waits = (count: number) =>
    eventually("what waits", async () => expect(await waiting()).toBe(count));

  describe("many undos by one command, each taken back", () => {
    test.each(first(1, ["cdo normal gr", "cdo Claude undo"]))(
      "%s: the files are byte for byte as Claude left them",
      async (command) => {
        await review();
        if (command === "cdo Claude undo") await nvim().command("set nohidden");
        await nvim().command(command);
        await eventually("all undone", () => expect(texts()).toEqual(names().map(() => OLD)));
        await waits(0);
        for (let step = 1; step <= HUNKS * FILES; step++) {
          await plays(":Claude back  says took back");
          await waits(step);
        }
        await eventually("Claude's text", () => expect(texts()).toEqual(names().map(() => CLAUDE)));
      },
    );

    test("keeps the user's line that is written between :g and its way back", async () => {
      const name = names()[0] as string;
      const withMine = CLAUDE.replace('  print("line 8")\n', 'mine\n  print("line 8")\n');
      await plays(`
        :edit ${name}
        :g/log.info/Claude undo   disk ${name} = ${oneLine(OLD)}
        :call append(7, 'mine') | silent write
      `);
      for (let step = 1; step <= HUNKS; step++) await nvim().command("Claude back");
      await plays(`<Ignore>  disk ${name} = ${oneLine(withMine)}`);
      // The disk comes before the journal.
      await waits(HUNKS * FILES);
    });
  });

  test("undoes a whole file with gR, takes that back with gB, keeps it with gA, shows the keys, ends", async () => {
    await review("Claude review!");
    const name = names()[0] as string;
    await plays(`
      gR      disk ${name} = ${oneLine(OLD)}
      gB      disk ${name} = ${oneLine(CLAUDE)}   list ${HUNKS * FILES}
      ggVgA   list ${HUNKS * (FILES - 1)}
      g?      lines /\\|gA +keeps the whole file, /
      q
      gQ
    `);
    await waits(0);
    expect(texts()).toEqual(names().map(() => CLAUDE));
  });

  nightly.test("takes back later what a buffer cannot take now", async () => {
    const name = names()[0] as string;
    await plays(`
      :edit ${name} | 5
      :Claude undo                      {&modified} 0   {getline(5)} /print/
      :set nomodifiable | Claude back   says not modifiable
    `);
    expect(await waiting()).toBe(HUNKS * FILES - 1);
    await nvim().command("set modifiable | Claude back");
    await eventually("taken back", () => expect(world.read(name)).toBe(CLAUDE));
    expect(await waiting()).toBe(HUNKS * FILES);
  });

  describe("keys that are typed at once", () => {
    test.each([
      ["in a file", "Claude review"],
      ["in the list", "Claude review!"],
    ])("%s, while Claude works: gr gr ga decides three", async (_where, command) => {
      busy(true);
      await review(command);
      await nvim().type("grgrga");
      await eventually("two undone", () => {
        const text = world.read(names()[0] as string);
        expect(text).toStartWith(OLD.slice(0, OLD.indexOf('  print("line 25")')));
        expect(text).toContain('log.info("25")');
      });
      await waits(HUNKS * FILES - 3);
    });

    /** Holds the answer to such a request to keep, counted from 1, until `_G.held` is called. */
    const holdAnswer = (nth: number) =>
      lua(
        `
        local nth, client, count = ..., require("claude-code.server.channel"), 0
        local request = client.request
        _G.held = nil
        client.request = function(method, params, callback)
          count = count + (method == "review/keep" and 1 or 0)
          if count < nth then
            return request(method, params, callback)
          end
          client.request = request
          -- The request is sent at once: later ones depend on its text.
          request(method, params, function(decision, problem)
            _G.held = function() callback(decision, problem) end
          end)
        end`,
        nth,
      );

    test("decides with a key while the previous decision is running", async () => {
      await review("Claude review");
      await holdAnswer(2);
      // The second one is the last of its file.
      await nvim().command("normal! G");
      await nvim().type("[c");
      await nvim().type("gaga");
      await nvim().until("the second one", "return _G.held ~= nil");
      await nvim().type("ga");
      await lua("_G.held()");
      await waits(HUNKS * FILES - 3);
    });

    test("does not decide if the user leaves the file before its turn", async () => {
      await review("Claude review");
      await holdAnswer(1);
      await nvim().type("gaga");
      await nvim().until("the answer", "return _G.held ~= nil");
      await nvim().command(`split ${names()[1]}`);
      await plays(":lua _G.held()  says the last key decided nothing");
      await waits(HUNKS * FILES - 1);
    });

    test.each(
      first(1, [
        ["ga", "in a file", true],
        ["ga", "in the list", true],
        ["gr", "in a file", false],
      ]),
    )("]c %s ]c … as a hand types it %s, while Claude works: %p", async (key, where, isBusy) => {
      const [name, other] = names() as [string, string];
      // On a busy machine a key may come later than a tenth of a second.
      await lua("vim.o.timeoutlen = 10000");
      const old = Array.from({ length: 4 * PACED_HUNKS }, (_, i) => `${i}\n`).join("");
      world.write(name, old);
      world.write(other, OLD);
      const changed = old.replaceAll(/^\d+\n/gm, (line) =>
        Number(line) % 4 === 2 ? `Claude's ${line}` : line,
      );
      await world.service.answer("done", {});
      world.claude({ [name]: changed }, { session: `T${tests}` });
      await plays(`:Claude review${where === "in a file" ? "" : "!"}  list ${PACED_HUNKS}`);
      if (isBusy) busy(true);
      // Each write adds a hunk to the other file.
      let [rounds, text] = [PACED_HUNKS, OLD];
      for (let i = 0; i < rounds; i++) {
        for (const char of `]c${key}`) {
          await nvim().type(char);
          await Bun.sleep(KEY_MS);
        }
        if (!isBusy || i % 10 !== 5 || i >= PACED_HUNKS || rounds >= PACED_HUNKS + 5) continue;
        text = text.replace(`line ${10 * ++rounds - 10 * PACED_HUNKS}"`, "Claude's");
        world.claude({ [other]: text }, { session: `T${tests}` });
      }
      if (isBusy) busy(false);
      const left = async (file: string) => (await world.file(file))?.hunks.length ?? 0;
      await eventually("each decided", async () =>
        expect([await left(name), await left(other)]).toEqual([0, 0]),
      );
      await eventually("its text", () =>
        expect(world.read(name)).toBe(key === "ga" ? changed : old),
      );
      await plays("<Ignore>  says ! /no change|since it was shown|nothing to review/");
    });
  });
});
