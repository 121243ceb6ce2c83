import { Dialog } from "@base-ui/react/dialog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { type KeyboardEvent, useDeferredValue, useId, useState } from "react";
import { ask, r } from "../api/client.ts";
import { me } from "../api/session.ts";
import { jumping, shell as t } from "../text/en.ts";
import overlay from "../ui/overlay.module.css";
import { placesFor } from "./navigation.ts";
import style from "./palette.module.css";
import { type Found, type Jump, jumpsOf } from "./palette.state.ts";

/** Jumps to a page, or to what begins with the text. */
export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const lines = useLines(text.trim());
  const router = useRouter();
  const id = useId();
  const go = (line: Jump | undefined) => {
    if (line === undefined) return;
    close();
    void router.navigate({ to: line.to });
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") go(lines[at]);
    if (step === undefined || lines.length === 0) return;
    event.preventDefault();
    setAt((at + step + lines.length) % lines.length);
  };
  const change = (value: string) => {
    setText(value);
    setAt(0);
  };
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={style["popup"]} aria-label={t.search}>
          <input
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
          {lines.length === 0 ? <p className={style["none"]}>{text === "" ? t.typeMore : t.nothingFound}</p> : null}
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

function useLines(text: string): readonly Jump[] {
  const asked = useDeferredValue(text);
  const { data: who } = useQuery(me);
  const found = useQuery({
    ...ask(r.search.find, { query: { text: asked, limit: 6 } }),
    enabled: asked !== "",
    placeholderData: keepPreviousData,
  });
  const pages = placesFor(who?.permissions ?? [])
    .flatMap(({ places }) => places)
    .filter(({ label }) => label.toLowerCase().startsWith(text.toLowerCase()))
    .map(({ to, label }): Jump => ({ id: to, group: t.goTo, label, to }));
  return [...pages, ...(text === "" ? [] : jumpsOf((found.data ?? {}) as Found, jumping.kinds))];
}
