import { buckets, statusWords } from "../text/en.ts";
import { count } from "./format.ts";
import { actionSigns, rolloutSigns, type Sign, shares, type Totals, targetSigns } from "./signs.ts";
import style from "./status.module.css";

const unknownSign: Sign = { sign: "?", tone: "warn" };

function Shown({ sign, word, pill }: { sign: Sign; word: string; pill?: boolean | undefined }) {
  return (
    <span className={`${style["status"]} ${pill ? style["pill"] : ""}`} data-tone={sign.tone}>
      <span className={style["sign"]} aria-hidden>
        {sign.sign}
      </span>
      {word}
    </span>
  );
}

/** The status of a rollout or of a group. */
export function RolloutStatus({ status, pill }: { status: string; pill?: boolean }) {
  return <Shown sign={rolloutSigns[status] ?? unknownSign} word={statusWords.rollout[status] ?? status} pill={pill} />;
}

/** The update status of a device. */
export function TargetStatus({ status, pill }: { status: string; pill?: boolean }) {
  return <Shown sign={targetSigns[status] ?? unknownSign} word={statusWords.target[status] ?? status} pill={pill} />;
}

/** The detailed status of an action. */
export function ActionStatus({ status, pill }: { status: string; pill?: boolean }) {
  return <Shown sign={actionSigns[status] ?? unknownSign} word={statusWords.action[status] ?? status} pill={pill} />;
}

/** Any other state, in the signs of the rest. */
export function Mark({ tone, sign, word, pill }: { tone: Sign["tone"]; sign: string; word: string; pill?: boolean }) {
  return <Shown sign={{ tone, sign }} word={word} pill={pill} />;
}

/** A tag with its colour, which is a name or a number of CSS. */
export function Tag({ name, colour }: { name: string; colour?: string | undefined }) {
  return (
    <span className={style["tag"]}>
      <span className={style["dot"]} style={colour === undefined ? {} : { background: colour }} aria-hidden />
      {name}
    </span>
  );
}

/** A bar of the six buckets; its widths are told in words too. */
export function Bar({ totals, label, large }: { totals: Totals; label: string; large?: boolean }) {
  const parts = shares(totals);
  const words = parts.map(({ bucket, value }) => `${count(value)} ${buckets[bucket]}`).join(", ");
  return (
    <div className={style["bar"]} data-size={large ? "large" : undefined} role="img" aria-label={`${label}: ${words || buckets.none}`}>
      {parts.map(({ bucket, share }) => (
        <span key={bucket} className={style["part"]} data-bucket={bucket} style={{ width: `${100 * share}%` }} />
      ))}
    </div>
  );
}
