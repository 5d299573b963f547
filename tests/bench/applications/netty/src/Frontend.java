// SPDX-License-Identifier: Apache-2.0
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.SelfSignedCertificate;

/** Netty over epoll with BoringSSL (tcnative): HTTPS, a little text for each request. */
public final class Frontend {
    public static void main(String[] args) throws Exception {
        SelfSignedCertificate certificate = new SelfSignedCertificate("localhost");
        SslContext ssl = SslContextBuilder.forServer(certificate.certificate(),
                                                     certificate.privateKey())
            .sslProvider(SslProvider.OPENSSL).build();
        EventLoopGroup group = new EpollEventLoopGroup(2);
        Channel channel = new ServerBootstrap().group(group)
            .channel(EpollServerSocketChannel.class)
            .childHandler(new Pipeline(ssl)).bind("127.0.0.1", 8443).sync().channel();
        System.out.println("ready");
        channel.closeFuture().sync();
    }

    static final class Pipeline extends ChannelInitializer<Channel> {
        private final SslContext ssl;

        Pipeline(SslContext ssl) {
            this.ssl = ssl;
        }

        @Override
        protected void initChannel(Channel channel) {
            channel.pipeline().addLast(ssl.newHandler(channel.alloc()), new HttpServerCodec(),
                                       new HttpObjectAggregator(65536), new Answer());
        }
    }

    static final class Answer extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            QueryStringDecoder query = new QueryStringDecoder(request.uri());
            ByteBuf body = context.alloc().buffer();
            for (int i = 0; i < 40; i++)
                ByteBufUtil.writeUtf8(body, query.path() + " " + i + "\n");
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
            response.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
            context.writeAndFlush(response);
        }
    }
}
