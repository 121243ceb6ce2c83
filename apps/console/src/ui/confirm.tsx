import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog } from "@base-ui/react/dialog";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { isChanged } from "../api/client.ts";
import { dialogs as t } from "../text/en.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { Field } from "./field.tsx";
import style from "./overlay.module.css";
import { Note, Refusal } from "./states.tsx";
import { toastFailure } from "./toast.tsx";
import { useUnsaved } from "./unsaved.tsx";

interface ConfirmProps {
  readonly title: string;
  /** What will happen, to how many. */
  readonly text: ReactNode;
  readonly button: string;
  readonly trigger: ReactNode;
  readonly look?: ButtonProps["look"];
  readonly why?: string | undefined;
  /** What must be typed before the button works, where a slip would cost much. */
  readonly typed?: string | undefined;
  readonly run: () => Promise<unknown>;
  readonly small?: boolean;
  /** It was opened or closed. */
  readonly onOpen?: (open: boolean) => void;
  /** Why the button does not work yet. */
  readonly missing?: string | undefined;
  /** Reads what it is about once more, after somebody has changed that meanwhile. */
  readonly again?: (() => Promise<unknown>) | undefined;
}

/** A button that asks before it acts, says what it will do, and stays open with the server's words if it is refused. */
export function Confirm({ title, text, button, trigger, look, why, typed, run, small, onOpen, missing, again }: ConfirmProps) {
  const [open, setOpen] = useState(false);
  const [text2, setText] = useState("");
  const runs = useRun(run, () => setOpen(false));
  const { busy, start, reset } = runs;
  const change = (next: boolean) => {
    setOpen(next);
    onOpen?.(next);
    setText("");
    reset();
  };
  const untyped = typed !== undefined && text2 !== typed ? t.typeFirst(typed) : undefined;
  return (
    <AlertDialog.Root open={open} onOpenChange={change}>
      <AlertDialog.Trigger render={<Button look={look} why={why} small={small} />}>{trigger}</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={style["backdrop"]} />
        <AlertDialog.Popup className={style["popup"]}>
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />}>{text}</AlertDialog.Description>
          {typed !== undefined && <Field label={t.typeToConfirm(typed)} value={text2} onChange={setText} />}
          <Outcome of={runs} again={again} />
          <div className={style["buttons"]}>
            <AlertDialog.Close render={<Button />}>{t.back}</AlertDialog.Close>
            <Button look={look === "danger" ? "danger" : "primary"} why={busy ? t.asked : (missing ?? untyped)} onClick={start}>
              {busy ? t.asked : button}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** Runs a change once at a time; a refusal is kept until the next try. */
export function useRun(run: () => Promise<unknown>, then: () => void) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [anew, setAnew] = useState(false);
  const left = useRef(false);
  const track = (work: () => Promise<unknown>, after: () => void) => {
    left.current = false;
    setBusy(true);
    setError(undefined);
    setAnew(false);
    work()
      .then(after, (thrown: unknown) => (left.current ? toastFailure(thrown) : setError(thrown)))
      .finally(() => setBusy(false));
  };
  /** Nobody looks at it any more: what is refused then is said beside the page. */
  const reset = () => {
    left.current = true;
    setError(undefined);
    setAnew(false);
  };
  /** `anew`: what is changed was read once more, and nothing has been sent since. */
  return {
    busy,
    error,
    anew,
    start: () => track(run, then),
    read: (again: () => Promise<unknown>) => track(again, () => setAnew(true)),
    reset,
  };
}

/** What came of it. Where somebody has changed the same thing meanwhile, nothing was sent over it: it is read again, and what was typed stays. */
export function Outcome({ of: { error, anew, read }, again }: { of: ReturnType<typeof useRun>; again: ConfirmProps["again"] }) {
  if (anew) return <Note>{t.readAnew}</Note>;
  if (again === undefined || !isChanged(error)) return <Refusal error={error} />;
  return (
    <Note tone="warn" alert>
      <p>{t.changed}</p>
      <Button small onClick={() => read(again)}>
        {t.readAgain}
      </Button>
    </Note>
  );
}

interface FormDialogProps {
  readonly title: string;
  readonly text?: ReactNode;
  readonly button: string;
  readonly open: boolean;
  readonly close: () => void;
  readonly why?: string | undefined;
  readonly wide?: boolean;
  readonly run: () => Promise<unknown>;
  readonly again?: ConfirmProps["again"];
  readonly children: ReactNode;
}

/** A dialog with a form; it closes when the server has taken it. What was typed is not lost by a slip: the first try to leave asks. */
export function FormDialog({ title, text, button, open, close, why, wide, run, again, children }: FormDialogProps) {
  const [edited, setEdited] = useState(false);
  const runs = useRun(run, () => leave());
  const { busy, start, reset } = runs;
  const unsaved = useUnsaved(open && edited && !busy);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // A dialog that was opened in a form lies outside of it on the page, but not for React.
    event.stopPropagation();
    if (why !== undefined || busy) return;
    unsaved.release();
    start();
  };
  const leave = () => {
    setEdited(false);
    reset();
    close();
  };
  const edit = () => {
    setEdited(true);
    unsaved.stay();
  };
  const change = (next: boolean, { reason }: { reason: string }) => {
    if (next) return;
    if (reason === "close-press") leave();
    else unsaved.ask(leave);
  };
  return (
    <Dialog.Root open={open} onOpenChange={change}>
      <Dialog.Portal>
        <Dialog.Backdrop className={style["backdrop"]} />
        <Dialog.Popup className={`${style["popup"]} ${wide ? style["wide"] : ""}`}>
          <Dialog.Title>{title}</Dialog.Title>
          {text !== undefined && <Dialog.Description render={<div className="muted" />}>{text}</Dialog.Description>}
          <form className={style["form"]} onSubmit={submit} onChange={edit}>
            {children}
            <Outcome of={runs} again={again} />
            {unsaved.question}
            <div className={style["buttons"]}>
              <Dialog.Close render={<Button />}>{t.back}</Dialog.Close>
              <Button look="primary" type="submit" why={busy ? t.asked : why}>
                {busy ? t.asked : button}
              </Button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
