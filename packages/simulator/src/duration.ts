const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads `500ms`, `5s`, `2m`, `1h`; a bare number is seconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  if (match === null) throw new Error(`"${text}" is not a duration (examples: 500ms, 5s, 2m)`);
  return Number(match[1]) * (units[match[2] ?? "s"] ?? 1_000);
}

/** Reads `config.polling.sleep`, HH:MM:SS (spec 000 §2.2). */
export function parseSleep(text: string): number | undefined {
  const match = /^(\d{1,2}):(\d{2}):(\d{2})$/.exec(text);
  if (match === null) return undefined;
  return (Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3])) * 1000;
}
