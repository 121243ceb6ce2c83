import { environment } from "../environment.ts";

// What devices, servers and other users have written must not move a cursor, change a colour, or turn the direction of what stands beside it.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are taken away
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are taken away
const breaking = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;

/** Makes text harmless for a terminal; line feeds and tabs stay. */
export const harmless = (text: string): string => text.replaceAll(steering, "\ufffd");

/** Makes text one line of a table, for terminals and pipes. */
export const oneLine = (text: string): string => text.replaceAll(breaking, " ");

/** Whether somebody looks at a terminal on which what is drawn can be drawn over. */
export const redraws = (): boolean => process.stdout.isTTY === true && environment.term !== "dumb";

/** The columns of the terminal, or undefined in a pipe; a terminal that does not know its width has 80. */
export const terminalWidth = (): number | undefined => (process.stdout.isTTY ? process.stdout.columns || 80 : undefined);

let readerIsGone = false;

/** Calls back when the reader of standard output has gone (`| head`), or when writing fails otherwise. */
export function onWriteError(then: (error: NodeJS.ErrnoException) => void): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    readerIsGone = true;
    then(error);
  });
  // where errors would be told, nobody reads; the exit code still tells
  process.stderr.on("error", () => undefined);
}

/** Writes to standard output as fast as its reader reads. False: there is no reader any more. */
export async function put(chunk: string | Uint8Array): Promise<boolean> {
  if (readerIsGone) return false;
  if (!process.stdout.write(chunk))
    await new Promise<void>((resolve) => {
      const over = () => {
        process.stdout.off("drain", over).off("error", over);
        resolve();
      };
      process.stdout.once("drain", over).once("error", over);
    });
  return !readerIsGone;
}
