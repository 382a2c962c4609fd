import * as v from "valibot";
import { defineMethod } from "./method";

/**
 * Spec 05: lines 1-based, columns 0-based in characters, `start` and `end` 1-based character
 * offsets, the end behind the last character. Only `active` when nothing is selected. `truncated`
 * when the text was cut at 100,000 bytes; the ends never are.
 */
export const selection = defineMethod({
  name: "editor/selection",
  description:
    "The selected text and where it is: in the current window, or, where nothing is selected and " +
    "no file is shown, in the file window the user was in before",
  input: v.object({}),
  answer: (editor) => editor.region(),
});
