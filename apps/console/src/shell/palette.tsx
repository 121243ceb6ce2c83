import { Dialog } from "@base-ui/react/dialog";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { states, shell as t } from "../text/en.ts";
import overlay from "../ui/overlay.module.css";
import style from "./palette.module.css";
import { type Jump, mayJump, placeOf } from "./palette.state.ts";
import { useLines } from "./palette-lines.ts";

/** The dialog would focus it with the next frame, and lose what somebody types until then. */
const focus = (input: HTMLInputElement | null): void => input?.focus();

/** Jumps to a page, or to what begins with the text. */
export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<string>();
  const [waits, setWaits] = useState(false);
  // The dialog would return the focus to what had it, but finds the input there, which has it already.
  const [before] = useState(() => document.activeElement as HTMLElement | null);
  const known = useLines(text.trim());
  const { lines, isKnown } = known;
  const at = placeOf(known, chosen);
  const router = useRouter();
  const id = useId();
  const go = (line: Jump | undefined) => {
    if (line === undefined) return;
    close();
    // Without a part the page of parts opens at its first, and not at one that is named as that of the page here.
    void router.navigate({ to: line.to, params: { part: undefined }, search: line.q === undefined ? {} : { q: line.q } });
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    // Whoever types fast and presses Enter means what the whole text finds, which may be still on its way.
    if (event.key === "Enter" && mayJump(known, chosen)) go(lines[at]);
    else if (event.key === "Enter") setWaits(true);
    if (step === undefined || lines.length === 0) return;
    event.preventDefault();
    setWaits(false);
    setChosen(lines[(at + step + lines.length) % lines.length]?.id);
  };
  const change = (value: string) => {
    setText(value);
    setChosen(undefined);
    setWaits(false);
  };
  useEffect(() => {
    if (!waits || !isKnown) return;
    setWaits(false);
    go(lines[at]);
  });
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={style["popup"]} aria-label={t.search} finalFocus={() => (before?.isConnected ? before : true)}>
          <input
            ref={focus}
            className={style["input"]}
            role="combobox"
            aria-label={t.searchHint}
            aria-expanded={lines.length > 0}
            aria-controls={`${id}-list`}
            aria-activedescendant={lines.length > 0 ? `${id}-${at}` : undefined}
            placeholder={t.searchHint}
            value={text}
            onChange={(event) => change(event.target.value)}
            onKeyDown={onKey}
          />
          {lines.length === 0 ? (
            <p className={style["none"]}>{text.trim() === "" ? t.typeMore : isKnown ? t.nothingFound : states.loading}</p>
          ) : null}
          <Lines id={id} lines={lines} at={at} go={go} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Lines({ id, lines, at, go }: { id: string; lines: readonly Jump[]; at: number; go: (line: Jump) => void }) {
  return (
    <div id={`${id}-list`} role="listbox" className={style["list"]} aria-label={t.search}>
      {lines.map((line, index) => (
        <div key={line.id} role="presentation">
          {lines[index - 1]?.group !== line.group && (
            <div className={style["group"]} role="presentation">
              {line.group}
            </div>
          )}
          <div id={`${id}-${index}`} role="option" aria-selected={index === at} className={style["item"]} onClick={() => go(line)}>
            {line.label}
            {line.beside !== undefined && <span className="muted">{line.beside}</span>}
          </div>
        </div>
      ))}
    </div>
  );
}
