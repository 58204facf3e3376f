/* Browsers start no workers for pages that are read from disk. There, run the script of a worker
   in a hidden frame instead: it has its own global scope, and both sides exchange messages. */
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      this.ready = new Promise((resolve, reject) => {
        this.frame.addEventListener("load", () => this.start(url, resolve, reject), { once: true });
      });
      document.documentElement.append(this.frame);
    }

    start(url, resolve, reject) {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.receive(data);
      const script = inside.document.createElement("script");
      script.src = new URL(url, document.baseURI).href;
      script.onload = () => resolve(inside);
      script.onerror = () => reject(new Error(`cannot load ${script.src}`));
      inside.document.body.append(script);
    }

    receive(data) {
      const message = new MessageEvent("message", { data });
      if (this.onmessage) this.onmessage(message);
      this.dispatchEvent(message);
    }

    postMessage(data) {
      this.ready.then((inside) => {
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
