import { setDefaultTimeout, test } from "bun:test";
import { BOTH_NEOVIMS } from "../../support/neovim";
import { Attached } from "../attached";
import { chooseHunks, chooseRepeating } from "./random-hunks";

setDefaultTimeout(120_000);

for (const version of BOTH_NEOVIMS)
  for (const choose of [chooseHunks, chooseRepeating])
    test(`${version.name}: many random cases, ${choose.name}`, async () => {
      await using a = await Attached.attached({ version, ui: { width: 150, height: 40 } });
      await choose(a, 100);
    });
