import { problemOf } from "../api/client.ts";
import { askAgain, useStale } from "../api/stale.ts";
import { states as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { clock } from "../ui/format.ts";
import style from "./shell.module.css";

/** Says that what is shown is of before, and why: below it the page is grey. */
export function Old() {
  const stale = useStale();
  if (stale === undefined) return null;
  return (
    <div className={style["old"]} role="status">
      <span>
        <b>{t.asOf(clock(stale.at))}</b> {stale.error === null ? t.asking : problemOf(stale.error).text}
      </span>
      {stale.error !== null && (
        <Button small onClick={askAgain}>
          {t.retry}
        </Button>
      )}
    </div>
  );
}
