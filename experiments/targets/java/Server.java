// SPDX-License-Identifier: MIT
//
// The target `java`: the JDK's own HTTP server. One thread of the server waits for events; each request is a task of a
// ForkJoinPool in asynchronous mode (first in, first out, as event handlers want it), which answers 200 with the path.
//
// max-workers is the pool's parallelism. A ForkJoinPool has no minimum that could be set below that (a smaller core size
// means the parallelism), and no spin limit. The server writes head and body apart, so the start line asks it not
// to wait for acknowledgements in between (sun.net.httpserver.nodelay).
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

public final class Server {
    private static final int BACKLOG = 1024;

    private static void answer(HttpExchange exchange) throws IOException {
        byte[] answer = exchange.getRequestURI().getPath().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain");
        exchange.sendResponseHeaders(200, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }

    public static void main(String[] arguments) throws IOException {
        int port = 0;
        int maxWorkers = Runtime.getRuntime().availableProcessors();
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            int value = Integer.parseInt(arguments[i + 1]);
            switch (arguments[i]) {
                case "--port" -> port = value;
                case "--max-workers" -> maxWorkers = value;
                default -> throw new IllegalArgumentException("unknown option " + arguments[i]);
            }
        }
        ForkJoinPool pool = new ForkJoinPool(maxWorkers, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true,
                maxWorkers, maxWorkers, 1, null, 1, TimeUnit.MINUTES);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
        server.createContext("/", Server::answer);
        server.setExecutor(pool);
        server.start();
    }
}
