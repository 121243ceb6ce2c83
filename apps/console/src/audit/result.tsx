import type { AuditEntryView } from "@harrier/contracts";
import { audit as t } from "../text/en.ts";
import { Mark } from "../ui/status.tsx";
import { resultSigns } from "./audit.state.ts";

/** What came of a call, and how often it was tried. */
export function Result({ row: { result, times } }: { row: AuditEntryView }) {
  const { sign, tone } = resultSigns[result];
  const word = t.results[result] ?? result;
  return <Mark tone={tone} sign={sign} word={times > 1 ? `${word} · ${t.times(times)}` : word} />;
}
