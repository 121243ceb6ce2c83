import { useRouter } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { unsaved as t } from "../text/en.ts";
import { Button } from "./button.tsx";
import overlay from "./overlay.module.css";
import { Note } from "./states.tsx";

interface Unsaved {
  /** Does it at once where nothing would be lost, or where it has asked already; otherwise asks first. */
  readonly ask: (then: () => void) => void;
  /** Lets go what is sent now: that may lead to another page at once. */
  readonly release: () => void;
  /** Takes the question back. */
  readonly stay: () => void;
  /** The question, while it is open. */
  readonly question: ReactNode;
}

/** Holds back whoever would lose what they have typed: by another page, by going back, by a reload, or by what `ask` is given. */
export function useUnsaved(unsaved: boolean): Unsaved {
  const [then, setThen] = useState<() => void>();
  const [answer, setAnswer] = useState<(blocked: boolean) => void>();
  const { history } = useRouter();
  const held = useRef(false);
  useEffect(() => {
    held.current = unsaved;
    if (!unsaved) return;
    return history.block({
      enableBeforeUnload: true,
      blockerFn: ({ nextLocation: { pathname } }) =>
        // Whoever is signed out has nothing that could still be sent.
        !held.current || pathname.endsWith("/login") ? false : new Promise((resolve) => setAnswer(() => resolve)),
    });
  }, [unsaved, history]);
  const say = (blocked: boolean) => {
    answer?.(blocked);
    setAnswer(undefined);
    setThen(undefined);
  };
  const stay = () => say(true);
  const go = () => {
    say(false);
    then?.();
  };
  return {
    ask: (next) => (!unsaved || then !== undefined ? next() : setThen(() => next)),
    release: () => {
      held.current = false;
    },
    stay,
    question: unsaved && (then ?? answer) !== undefined && <Question go={go} stay={stay} />,
  };
}

function Question({ go, stay }: { go: () => void; stay: () => void }) {
  const note = useRef<HTMLDivElement>(null);
  const before = useRef(document.activeElement);
  useEffect(() => {
    note.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const back = () => {
    // The button goes, and a dialog that has lost the focus would close.
    if (before.current instanceof HTMLElement) before.current.focus();
    stay();
  };
  return (
    <div ref={note}>
      <Note tone="warn" alert>
        <p>{t.question}</p>
        <div className={overlay["answers"]}>
          <Button small onClick={back}>
            {t.stay}
          </Button>
          <Button small look="danger" onClick={go}>
            {t.discard}
          </Button>
        </div>
      </Note>
    </div>
  );
}
