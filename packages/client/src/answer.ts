/** An answer in JSON is never so large: pages have 500 rows at most, and what is larger is downloaded as a stream. */
export const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Reads the text of an answer, as it is after decompression, without holding more than `maxBytes`. Undefined: it is larger; the rest is not read, and
 * the connection is given up.
 */
export async function textWithin(answer: Response, maxBytes: number): Promise<string | undefined> {
  if (answer.body === null) return "";
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel().catch(() => undefined);
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
